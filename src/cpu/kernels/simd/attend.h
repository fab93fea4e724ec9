// Attention of one query head, for the vector tables (contract: kernels.h, attend).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/simd/math.h"

namespace teapot::cpu {
namespace {

template <class V>
struct CacheF32 {
  using Element = float;
  static typename V::Type load(const float* p) { return V::load(p); }
  static typename V::Type load_first(const float* p, size_t n) { return V::load_first(p, n); }
};
template <class V>
struct CacheF16 {
  using Element = uint16_t;
  static typename V::Type load(const uint16_t* p) { return V::load_f16(p); }
  static typename V::Type load_first(const uint16_t* p, size_t n) { return V::load_f16_first(p, n); }
};
template <class V>
struct CacheBF16 {
  using Element = uint16_t;
  static typename V::Type load(const uint16_t* p) { return V::load_bf16(p); }
  static typename V::Type load_first(const uint16_t* p, size_t n) { return V::load_bf16_first(p, n); }
};

template <class V, class Cache>
float dot(const float* q, const typename Cache::Element* k, size_t n) {
  auto even = V::zero(), odd = V::zero();
  size_t i = 0;
  for (; i + 2 * V::kLanes <= n; i += 2 * V::kLanes) {
    even = V::fma(V::load(q + i), Cache::load(k + i), even);
    odd = V::fma(V::load(q + i + V::kLanes), Cache::load(k + i + V::kLanes), odd);
  }
  for (; i < n; i += V::kLanes) {
    const size_t lanes = n - i < V::kLanes ? n - i : V::kLanes;
    even = V::fma(V::load_first(q + i, lanes), Cache::load_first(k + i, lanes), even);
  }
  return V::sum(V::add(even, odd));
}

// scores become e^(score - base); returns their sum.
template <class V>
float exponentiate(float* scores, size_t count, float base) {
  auto sum = V::zero();
  for (size_t p = 0; p < count; p += V::kLanes) {
    const size_t lanes = count - p < V::kLanes ? count - p : V::kLanes;
    const auto weight = V::keep_first(exp_of<V>(V::sub(V::load_first(scores + p, lanes), V::set(base))), lanes);
    V::store_first(scores + p, lanes, weight);
    sum = V::add(sum, weight);
  }
  return V::sum(sum);
}

// part[0..kColumns * lanes) = sum over positions of weight * value; the columns stay in registers over all positions.
template <class V, class Cache, size_t kColumns>
void weigh(const float* weights, const typename Cache::Element* values, size_t count, size_t kv_stride, float* part) {
  typename V::Type sums[kColumns];
  for (size_t c = 0; c < kColumns; ++c) sums[c] = V::zero();
  for (size_t p = 0; p < count; ++p) {
    const auto weight = V::set(weights[p]);
#pragma GCC unroll 8
    for (size_t c = 0; c < kColumns; ++c) sums[c] = V::fma(weight, Cache::load(values + p * kv_stride + c * V::kLanes), sums[c]);
  }
  for (size_t c = 0; c < kColumns; ++c) V::store(part + c * V::kLanes, sums[c]);
}

template <class V, class Cache>
void weigh_all(const float* weights, const typename Cache::Element* values, size_t count, size_t kv_stride, size_t head_dim, float* part) {
  constexpr size_t kColumns = 8;
  size_t i = 0;
  for (; i + kColumns * V::kLanes <= head_dim; i += kColumns * V::kLanes) {
    weigh<V, Cache, kColumns>(weights, values + i, count, kv_stride, part + i);
  }
  for (; i + V::kLanes <= head_dim; i += V::kLanes) weigh<V, Cache, 1>(weights, values + i, count, kv_stride, part + i);
  if (i == head_dim) return;
  auto sum = V::zero();
  for (size_t p = 0; p < count; ++p) {
    sum = V::fma(V::set(weights[p]), Cache::load_first(values + p * kv_stride + i, head_dim - i), sum);
  }
  V::store_first(part + i, head_dim - i, sum);
}

template <class V>
float exp_of_scalar(float x) {
  float result[V::kLanes];
  V::store(result, exp_of<V>(V::set(x)));
  return result[0];
}

template <class V, class Cache>
void attend_of(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
               float* scratch, float* out) {
  using Element = typename Cache::Element;
  constexpr float kNothing = -__builtin_inff();
  float* const scores = scratch;
  float* const part = scratch + kKvBlock;
  float max = kNothing, sum = 0;
  for (size_t i = 0; i < head_dim; ++i) out[i] = 0;
  for (size_t begin = 0; begin < positions; begin += kKvBlock) {
    const size_t count = positions - begin < kKvBlock ? positions - begin : kKvBlock;
    const Element* k = static_cast<const Element*>(keys) + begin * kv_stride;
    const Element* v = static_cast<const Element*>(values) + begin * kv_stride;
    float part_max = kNothing;
    for (size_t p = 0; p < count; ++p) {
      scores[p] = dot<V, Cache>(q, k + p * kv_stride, head_dim) * scale;
      if (scores[p] > part_max) part_max = scores[p];
    }
    // Scores of -inf only: e^(score - max) would be NaN, the block weighs nothing.
    const float part_sum = exponentiate<V>(scores, count, part_max == kNothing ? 0.0f : part_max);
    weigh_all<V, Cache>(scores, v, count, kv_stride, head_dim, part);
    const float new_max = part_max > max ? part_max : max;
    const float keep = max == new_max ? 1.0f : exp_of_scalar<V>(max - new_max);
    const float take = part_max == new_max ? 1.0f : exp_of_scalar<V>(part_max - new_max);
    sum = sum * keep + part_sum * take;
    for (size_t i = 0; i < head_dim; ++i) out[i] = out[i] * keep + part[i] * take;
    max = new_max;
  }
  const float inverse = 1.0f / sum;
  for (size_t i = 0; i < head_dim; ++i) out[i] *= inverse;
}

}  // namespace
}  // namespace teapot::cpu
