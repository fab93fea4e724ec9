// The CPU backend: weights in one arena, a thread team for life, states of sequences, an executor of plans.
#pragma once

#include <memory>
#include <string>

#include "plan/backend.h"

namespace teapot::cpu {

struct Options {
  std::string isa = "auto";          // auto, scalar, avx2, avx512, avx512vnni
  std::string kv_dtype = "f16";      // f32, bf16, f16
  std::string activations = "auto";  // what quantised weights are multiplied with: f32, int8; auto: int8
  std::string pages = "thp";         // of the arena: 4k, thp
  int threads = 0;                   // 0: one a physical core of the allowed cpuset
  bool pin = true;
};

// kInvalid for an unknown value, kUnsupported for one that this host cannot honour.
Result<std::unique_ptr<plan::Backend>> create_backend(const Options& options);

}  // namespace teapot::cpu
