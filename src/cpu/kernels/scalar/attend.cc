#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "cpu/kernels/scalar/entries.h"

namespace teapot::cpu::scalar {
namespace {

float to_f32(float x) { return x; }

struct Half {
  uint16_t bits;
};
float to_f32(Half x) { return f16_to_f32(x.bits); }

struct Brain {
  uint16_t bits;
};
float to_f32(Brain x) { return bf16_to_f32(x.bits); }

template <class Element>
void attend(const AttendBlock& block, const AttendPart& part) {
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  float* const scores = block.scratch;
  for (size_t h = 0; h < block.heads; ++h) {
    const float* const q = block.q + h * block.head_dim;
    float max = kNothing;
    for (size_t p = 0; p < block.count; ++p) {
      const Element* k = static_cast<const Element*>(block.keys) + p * block.kv_stride;
      double dot = 0;  // a chain of f32 additions would be less exact than the vector tables' many partial sums
      for (size_t i = 0; i < block.head_dim; ++i) dot += static_cast<double>(q[i]) * to_f32(k[i]);
      scores[p] = static_cast<float>(dot) * block.scale;
      max = std::max(max, scores[p]);
    }
    float* const out = part.out + h * block.head_dim;
    std::fill(out, out + block.head_dim, 0.0f);
    float sum = 0;
    // Scores of -inf only: e^(score - max) would be NaN, the block weighs nothing.
    const float base = max == kNothing ? 0.0f : max;
    for (size_t p = 0; p < block.count; ++p) {
      const Element* v = static_cast<const Element*>(block.values) + p * block.kv_stride;
      const float weight = std::exp(scores[p] - base);
      sum += weight;
      for (size_t i = 0; i < block.head_dim; ++i) out[i] += weight * to_f32(v[i]);
    }
    part.max[h] = max;
    part.sum[h] = sum;
  }
}

}  // namespace

void attend_f32(const AttendBlock& block, const AttendPart& part) { attend<float>(block, part); }
void attend_f16(const AttendBlock& block, const AttendPart& part) { attend<Half>(block, part); }
void attend_bf16(const AttendBlock& block, const AttendPart& part) { attend<Brain>(block, part); }

void attend_join(const float* part, float part_max, float part_sum, size_t head_dim, float* out, float* max, float* sum) {
  const float new_max = std::max(*max, part_max);
  const float keep = *max == new_max ? 1.0f : std::exp(*max - new_max), take = part_max == new_max ? 1.0f : std::exp(part_max - new_max);
  *sum = *sum * keep + part_sum * take;
  for (size_t i = 0; i < head_dim; ++i) out[i] = out[i] * keep + part[i] * take;
  *max = new_max;
}

size_t store_f32(const float* x, size_t n, void* out) {
  std::memcpy(out, x, n * sizeof(float));
  return 0;
}

size_t store_f16(const float* x, size_t n, void* out) {
  constexpr float kLargest = 65504;
  size_t saturated = 0;
  auto* to = static_cast<uint16_t*>(out);
  for (size_t i = 0; i < n; ++i) {
    saturated += std::fabs(x[i]) > kLargest;
    to[i] = f32_to_f16(std::isnan(x[i]) ? x[i] : std::clamp(x[i], -kLargest, kLargest));
  }
  return saturated;
}

size_t store_bf16(const float* x, size_t n, void* out) {
  auto* to = static_cast<uint16_t*>(out);
  for (size_t i = 0; i < n; ++i) to[i] = f32_to_bf16(x[i]);
  return 0;
}

}  // namespace teapot::cpu::scalar
