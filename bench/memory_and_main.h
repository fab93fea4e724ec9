// What micro-benchmarks share.
#pragma once

#include <benchmark/benchmark.h>

#include <sys/mman.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace teapot::cpu {

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

// main() of a program whose benchmarks `add` registers.
inline int run_benchmarks(int argc, char** argv, void (*add)()) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace teapot::cpu
