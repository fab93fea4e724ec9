// f32 to the elements of the KV cache, for the vector tables.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {
namespace {

inline size_t store_f32_of(const float* x, size_t n, void* out) {
  __builtin_memcpy(out, x, n * sizeof(float));
  return 0;
}

template <class V>
size_t store_f16_of(const float* x, size_t n, void* out) {
  const auto largest = V::set(65504.0f), smallest = V::set(-65504.0f);
  auto* const to = static_cast<uint16_t*>(out);
  size_t saturated = 0;
  for (size_t i = 0; i < n; i += V::kLanes) {
    const size_t lanes = n - i < V::kLanes ? n - i : V::kLanes;
    const auto value = V::load_first(x + i, lanes);
    saturated += static_cast<size_t>(__builtin_popcount(V::greater(V::abs(value), largest)));
    V::store_f16_first(to + i, lanes, V::max(smallest, V::min(largest, value)));  // order of arguments: NaN stays
  }
  return saturated;
}

template <class V>
size_t store_bf16_of(const float* x, size_t n, void* out) {
  auto* const to = static_cast<uint16_t*>(out);
  for (size_t i = 0; i < n; i += V::kLanes) {
    const size_t lanes = n - i < V::kLanes ? n - i : V::kLanes;
    V::store_bf16_first(to + i, lanes, V::load_first(x + i, lanes));
  }
  return 0;
}

}  // namespace
}  // namespace teapot::cpu
