// Norms, activations, the convolution and softmax's parts, for the vector tables. Vectors of any length; the last lanes are masked.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/simd/math.h"

namespace teapot::cpu {
namespace {

// y[i] = body(a[i], b[i]); y may be a or b.
template <class V, class Body>
void map(const float* a, const float* b, size_t n, float* y, Body body) {
  size_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) V::store(y + i, body(V::load(a + i), V::load(b + i)));
  if (i < n) V::store_first(y + i, n - i, body(V::load_first(a + i, n - i), V::load_first(b + i, n - i)));
}

template <class V>
float sum_of_squares(const float* x, size_t n) {
  typename V::Type sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
  size_t i = 0;
  for (; i + 4 * V::kLanes <= n; i += 4 * V::kLanes) {
    for (size_t s = 0; s < 4; ++s) {
      const auto value = V::load(x + i + s * V::kLanes);
      sums[s] = V::fma(value, value, sums[s]);
    }
  }
  for (; i < n; i += V::kLanes) {
    const auto value = V::load_first(x + i, n - i < V::kLanes ? n - i : V::kLanes);
    sums[0] = V::fma(value, value, sums[0]);
  }
  return V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
}

inline float square_root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }

template <class V>
float inverse_rms(const float* x, size_t n, float eps) {
  return 1.0f / square_root(sum_of_squares<V>(x, n) / static_cast<float>(n) + eps);
}

template <class V>
void rms_norm_of(const float* x, const float* w, float eps, size_t n, float* y) {
  const auto factor = V::set(inverse_rms<V>(x, n, eps));
  map<V>(x, w, n, y, [&](auto value, auto weight) { return V::mul(V::mul(value, factor), weight); });
}

template <class V>
void l2_norm_of(const float* x, float eps, float scale, size_t n, float* y) {
  const auto factor = V::set(scale / square_root(sum_of_squares<V>(x, n) + eps));
  map<V>(x, x, n, y, [&](auto value, auto) { return V::mul(value, factor); });
}

template <class V>
void gated_norm_of(const float* o, const float* z, const float* w, float eps, size_t n, float* y) {
  const auto factor = V::set(inverse_rms<V>(o, n, eps));
  for (size_t i = 0; i < n; i += V::kLanes) {
    const size_t lanes = n - i < V::kLanes ? n - i : V::kLanes;
    const auto normed = V::mul(V::mul(V::load_first(o + i, lanes), factor), V::load_first(w + i, lanes));
    V::store_first(y + i, lanes, V::mul(normed, silu_of<V>(V::load_first(z + i, lanes))));
  }
}

template <class V>
void conv_silu_of(const float* const* rows, const float* w, size_t kernel, size_t channels, float* out) {
  for (size_t c = 0; c < channels; c += V::kLanes) {
    const size_t lanes = channels - c < V::kLanes ? channels - c : V::kLanes;
    auto sum = V::zero();
    for (size_t i = 0; i < kernel; ++i) sum = V::fma(V::load_first(w + i * channels + c, lanes), V::load_first(rows[i] + c, lanes), sum);
    V::store_first(out + c, lanes, silu_of<V>(sum));
  }
}

// Two passes: the largest value, then its first place.
template <class V>
int32_t argmax_of(const float* x, size_t n) {
  if (n == 0) return -1;
  auto best = V::set(x[0]);
  size_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    const auto value = V::load(x + i);
    if (V::nan(value)) return -1;
    best = V::max(best, value);
  }
  float largest = V::largest(best);
  for (; i < n; ++i) {
    if (x[i] != x[i]) return -1;
    if (x[i] > largest) largest = x[i];
  }
  for (i = 0; i + V::kLanes <= n; i += V::kLanes) {
    const uint32_t found = V::equal(V::load(x + i), V::set(largest));
    if (found) return static_cast<int32_t>(i) + __builtin_ctz(found);
  }
  while (x[i] != largest) ++i;
  return static_cast<int32_t>(i);
}

template <class V>
float sum_exp_of(const float* x, float shift, size_t n) {
  const auto shifts = V::set(shift);
  typename V::Type sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
  size_t i = 0;
  for (; i + 4 * V::kLanes <= n; i += 4 * V::kLanes) {
    for (size_t s = 0; s < 4; ++s) sums[s] = V::add(sums[s], exp_of<V>(V::sub(V::load(x + i + s * V::kLanes), shifts)));
  }
  for (; i < n; i += V::kLanes) {
    const size_t lanes = n - i < V::kLanes ? n - i : V::kLanes;
    sums[0] = V::add(sums[0], V::keep_first(exp_of<V>(V::sub(V::load_first(x + i, lanes), shifts)), lanes));
  }
  return V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
}

}  // namespace
}  // namespace teapot::cpu
