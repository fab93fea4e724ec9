// One thread's matmuls over weights that no cache holds, in bytes of weights per second, beside what a plain read of them reaches.
//
//   teapot_matmul_bench [--benchmark_filter='Q4_K/avx512vnni/tiles/.*']
//
// Names are <type>/<isa>/<layout>/<activations>/<tokens>; layouts are rows (as in the file) and tiles (as packed at load). Rates count the
// CPU time of the thread; products are multiplications of a weight and an activation.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "memory_and_main.h"

#include "cpu/isa.h"
#include "cpu/kernels/tiles.h"
#include "cpu/pack_tiles.h"
#include "plan/weight.h"
#include "workbench/read_kernels.h"

namespace teapot::cpu {
namespace {

constexpr size_t kCols = 2048;
constexpr size_t kBytes = size_t{512} << 20;  // of weights: more than an L3 holds
constexpr size_t kClaimRows = 1024;           // rows of a call: a large claim of the engine's
constexpr size_t kTokens[] = {1, 2, 4, 5, 8, 16, 40};
constexpr size_t kMostTokens = 40;

struct Tokens {
  Memory f32{kMostTokens * kCols * sizeof(float)};
  Memory q8{kMostTokens * kCols};
  Memory scales{kMostTokens * kCols / kQuantBlock * sizeof(float)};
  Memory sums{kMostTokens * kCols / (kQuantBlock / 2) * sizeof(int32_t)};
  Memory totals{kMostTokens * kCols / kQuantBlock * sizeof(float)};

  Tokens() {
    std::mt19937 rng(1);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < kMostTokens * kCols; ++i) f32.as<float>()[i] = normal(rng);
    const auto* const sum = sums.as<int32_t>();
    kScalarKernels.quantize(f32.as<float>(), kMostTokens * kCols, q8.as<int8_t>(), scales.as<float>(), sums.as<int32_t>());
    for (size_t block = 0; block < kMostTokens * kCols / kQuantBlock; ++block) {
      totals.as<float>()[block] = scales.as<float>()[block] * static_cast<float>(sum[2 * block] + sum[2 * block + 1]);
    }
  }
  Activations view() const { return {f32.as<float>(), q8.as<int8_t>(), scales.as<float>(), sums.as<int32_t>(), kCols, totals.as<float>()}; }
};

// Any bytes will do, but subnormal and infinite scales would time something else.
const unsigned char* weights() {
  static const Memory memory(kBytes, 0x2b);
  return memory.as<unsigned char>();
}

void read_plainly(benchmark::State& state, const workbench::ReadKernel& kernel) {
  const auto* const data = reinterpret_cast<const std::byte*>(weights());
  for (auto _ : state) benchmark::DoNotOptimize(kernel.read(data, kBytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBytes));
}

// row_bytes: on average, of the layout.
void multiply(benchmark::State& state, MatmulFn matmul, double row_bytes, size_t tokens) {
  static const Tokens x;
  const unsigned char* const data = weights();
  const size_t rows = static_cast<size_t>(static_cast<double>(kBytes) / row_bytes) / kClaimRows * kClaimRows;
  std::vector<float> out(kClaimRows * tokens);
  for (auto _ : state) {
    for (size_t first = 0; first < rows; first += kClaimRows) {
      matmul(data, kCols, first, first + kClaimRows, x.view(), nullptr, tokens, out.data(), kClaimRows);
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(static_cast<double>(state.iterations() * rows) * row_bytes));
  const auto products = static_cast<double>(state.iterations() * rows * kCols * tokens);
  state.counters["products"] = benchmark::Counter(products, benchmark::Counter::kIsRate);
}

void add(const std::string& name, MatmulFn matmul, double row_bytes) {
  if (matmul == nullptr) return;
  for (const size_t tokens : kTokens) {
    benchmark::RegisterBenchmark((name + "/" + std::to_string(tokens)).c_str(), multiply, matmul, row_bytes, tokens)
        ->Unit(benchmark::kMillisecond);
  }
}

void add_all() {
  for (const workbench::ReadKernel& kernel : workbench::read_kernels()) {
    benchmark::RegisterBenchmark((std::string("read/") + kernel.name).c_str(), read_plainly, kernel)->Unit(benchmark::kMillisecond);
  }
  for (const char* isa : {"scalar", "avx2", "avx512", "avx512vnni", "amx"}) {
    const auto table = select_kernels(isa);
    if (!table) continue;
    for (size_t i = 0; i < plan::kWeightTypes; ++i) {
      const auto type = static_cast<plan::WeightType>(i);
      const bool quantised = plan::info(type).elements > 1;
      const std::string name = std::string(plan::info(type).name) + "/" + isa;
      const std::string activations = quantised ? "/int8" : "/f32";
      add(name + "/rows" + activations, (quantised ? (*table)->matmul_q8 : (*table)->matmul_f32)[i],
          static_cast<double>(plan::row_bytes(type, kCols)));
      if (has_tiles(type)) {
        add(name + "/tiles" + activations, (quantised ? (*table)->tiled_q8 : (*table)->tiled_f32)[i],
            static_cast<double>(tile_bytes(type, kCols)) / kTileRows);
      }
    }
  }
}

}  // namespace
}  // namespace teapot::cpu

int main(int argc, char** argv) { return teapot::cpu::run_benchmarks(argc, argv, teapot::cpu::add_all); }
