// One thread's attention of the query heads that share a KV head, over keys and values that no cache holds (memory), and over one block
// again and again (cache), as the rows of a prompt read it: in bytes of keys and values per second, and in products.
//
//   teapot_attend_bench [--benchmark_filter='f16/avx512/.*']
//
// Names are <type>/<isa>/<heads>x<head dim>/<where>.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "memory_and_main.h"

#include "cpu/isa.h"
#include "cpu/kernels/kernels.h"
#include "cpu/sequence_state.h"

namespace teapot::cpu {
namespace {

constexpr size_t kKvHeads = 2;
constexpr size_t kPositions = 65536;

struct Shape {
  size_t heads, head_dim;
};

void attend(benchmark::State& state, const KernelTable& kernels, KvType type, Shape shape, size_t positions) {
  const size_t stride = kKvHeads * shape.head_dim, element = kv_bytes(type);
  constexpr int kSmall = 0x2c;  // bytes of small numbers in each of the types
  const Memory keys(kPositions * stride * element, kSmall), values(kPositions * stride * element, kSmall);
  std::vector<float> q(shape.heads * shape.head_dim, 0.01f), scratch(kAttendHeads * kKvBlock), max(shape.heads), sum(shape.heads);
  std::vector<float> out(shape.heads * shape.head_dim);
  for (auto unused : state) {
    for (size_t at = 0; at < kPositions; at += kKvBlock) {
      const size_t offset = at % positions * stride * element;
      kernels.attend_block[type]({q.data(), shape.heads, shape.head_dim, keys.as<std::byte>() + offset, values.as<std::byte>() + offset,
                                  kKvBlock, stride, 0.06f, scratch.data()},
                                 {max.data(), sum.data(), out.data()});
    }
    benchmark::DoNotOptimize(out.data());
  }
  const auto rounds = static_cast<double>(state.iterations());
  const auto elements = static_cast<double>(2 * kPositions * shape.head_dim);
  state.SetBytesProcessed(static_cast<int64_t>(rounds * elements * static_cast<double>(element)));
  state.counters["products"] = benchmark::Counter(rounds * elements * static_cast<double>(shape.heads), benchmark::Counter::kIsRate);
}

void add_all() {
  constexpr std::pair<const char*, KvType> kTypes[] = {{"f32", kKvF32}, {"f16", kKvF16}, {"bf16", kKvBF16}};
  constexpr Shape kShapes[] = {{8, 256}, {4, 128}};
  for (const auto& [name, type] : kTypes) {
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
      const auto kernels = select_kernels(isa);
      if (!kernels) continue;
      for (const Shape& shape : kShapes) {
        const std::string path = fmt::format("{}/{}/{}x{}/", name, isa, shape.heads, shape.head_dim);
        for (const auto& [where, positions] : {std::pair{"memory", kPositions}, {"cache", kKvBlock}}) {
          benchmark::RegisterBenchmark((path + where).c_str(), attend, std::cref(**kernels), type, shape, positions)
              ->Unit(benchmark::kMillisecond)
              ->MeasureProcessCPUTime();
        }
      }
    }
  }
}

}  // namespace
}  // namespace teapot::cpu

int main(int argc, char** argv) { return teapot::cpu::run_benchmarks(argc, argv, teapot::cpu::add_all); }
