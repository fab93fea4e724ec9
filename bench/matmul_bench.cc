// One thread's matmuls over weights that no cache holds, in bytes of weights per second, beside what a plain read of them reaches.
//
//   teapot_matmul_bench [--benchmark_filter='Q4_K/avx512vnni/.*']
//
// Names are <type>/<isa>/<activations>/<tokens>. Rates count the CPU time of the thread; products are multiplications of a weight and an
// activation.
#include <benchmark/benchmark.h>

#include <sys/mman.h>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cpu/isa.h"
#include "plan/weight.h"

namespace teapot::cpu {
namespace {

constexpr size_t kCols = 2048;
constexpr size_t kBytes = size_t{96} << 20;  // of weights: three times a large L3
constexpr size_t kMostTokens = 64;

// Memory as the engine's arena has it: aligned, in huge pages where the system gives them.
class Memory {
 public:
  explicit Memory(size_t bytes, int fill = 0) {
    constexpr size_t kHugePage = size_t{2} << 20;
    const size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    data_.reset(std::aligned_alloc(kHugePage, rounded));
    if (!data_) std::abort();
    (void)madvise(data_.get(), rounded, MADV_HUGEPAGE);
    std::memset(data_.get(), fill, rounded);
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data_;
};

struct Tokens {
  Memory f32{kMostTokens * kCols * sizeof(float)};
  Memory q8{kMostTokens * kCols};
  Memory scales{kMostTokens * kCols / kQuantBlock * sizeof(float)};
  Memory sums{kMostTokens * kCols / (kQuantBlock / 2) * sizeof(int32_t)};

  Tokens() {
    std::mt19937 rng(1);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < kMostTokens * kCols; ++i) f32.as<float>()[i] = normal(rng);
    kScalarKernels.quantize(f32.as<float>(), kMostTokens * kCols, q8.as<int8_t>(), scales.as<float>(), sums.as<int32_t>());
  }
  Activations view() const { return {f32.as<float>(), q8.as<int8_t>(), scales.as<float>(), sums.as<int32_t>(), kCols}; }
};

void read_plainly(benchmark::State& state) {
  const Memory memory(kBytes);
  const auto* words = memory.as<uint64_t>();
  for (auto _ : state) benchmark::DoNotOptimize(std::accumulate(words, words + kBytes / sizeof(uint64_t), uint64_t{0}));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBytes));
}

void multiply(benchmark::State& state, plan::WeightType type, MatmulFn matmul, size_t tokens) {
  const size_t rows = kBytes / plan::row_bytes(type, kCols);
  const Memory weights(kBytes, 0x2b);  // any bytes will do, but subnormal and infinite scales would time something else
  const Tokens x;
  std::vector<float> out(rows * tokens);
  for (auto _ : state) {
    matmul(weights.as<unsigned char>(), kCols, 0, rows, x.view(), nullptr, tokens, out.data(), rows);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * rows * plan::row_bytes(type, kCols)));
  const auto products = static_cast<double>(state.iterations() * rows * kCols * tokens);
  state.counters["products"] = benchmark::Counter(products, benchmark::Counter::kIsRate);
}

void add_all() {
  benchmark::RegisterBenchmark("read", read_plainly);
  for (const char* isa : {"scalar", "avx2", "avx512", "avx512vnni"}) {
    const auto table = select_kernels(isa);
    if (!table) continue;
    for (size_t i = 0; i < plan::kWeightTypes; ++i) {
      const auto type = static_cast<plan::WeightType>(i);
      const bool quantised = plan::info(type).elements > 1;
      const MatmulFn matmul = quantised ? (*table)->matmul_q8[i] : (*table)->matmul_f32[i];
      for (const size_t tokens : {1, 4, 8, 64}) {
        const std::string name = std::string(plan::info(type).name) + "/" + isa + (quantised ? "/int8/" : "/f32/") + std::to_string(tokens);
        benchmark::RegisterBenchmark(name.c_str(), multiply, type, matmul, tokens)->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace
}  // namespace teapot::cpu

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  teapot::cpu::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
