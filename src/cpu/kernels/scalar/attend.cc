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
void attend(const float* q, const Element* keys, const Element* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
            float* scratch, float* out) {
  float* const scores = scratch;
  float* const part = scratch + kKvBlock;
  float max = -std::numeric_limits<float>::infinity(), sum = 0;
  std::fill(out, out + head_dim, 0.0f);
  for (size_t begin = 0; begin < positions; begin += kKvBlock) {
    const size_t count = std::min(kKvBlock, positions - begin);
    float part_max = -std::numeric_limits<float>::infinity();
    for (size_t p = 0; p < count; ++p) {
      const Element* k = keys + (begin + p) * kv_stride;
      double dot = 0;  // a chain of f32 additions would be less exact than the vector tables' many partial sums
      for (size_t i = 0; i < head_dim; ++i) dot += static_cast<double>(q[i]) * to_f32(k[i]);
      scores[p] = static_cast<float>(dot) * scale;
      part_max = std::max(part_max, scores[p]);
    }
    float part_sum = 0;
    std::fill(part, part + head_dim, 0.0f);
    // Scores of -inf only: e^(score - max) would be NaN, the block weighs nothing.
    const float base = part_max == -std::numeric_limits<float>::infinity() ? 0.0f : part_max;
    for (size_t p = 0; p < count; ++p) {
      const Element* v = values + (begin + p) * kv_stride;
      const float weight = std::exp(scores[p] - base);
      part_sum += weight;
      for (size_t i = 0; i < head_dim; ++i) part[i] += weight * to_f32(v[i]);
    }
    const float new_max = std::max(max, part_max);
    const float keep = max == new_max ? 1.0f : std::exp(max - new_max), take = part_max == new_max ? 1.0f : std::exp(part_max - new_max);
    sum = sum * keep + part_sum * take;
    for (size_t i = 0; i < head_dim; ++i) out[i] = out[i] * keep + part[i] * take;
    max = new_max;
  }
  for (size_t i = 0; i < head_dim; ++i) out[i] /= sum;
}

}  // namespace

void attend_f32(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
                float* scratch, float* out) {
  attend(q, static_cast<const float*>(keys), static_cast<const float*>(values), positions, kv_stride, head_dim, scale, scratch, out);
}

void attend_f16(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
                float* scratch, float* out) {
  attend(q, static_cast<const Half*>(keys), static_cast<const Half*>(values), positions, kv_stride, head_dim, scale, scratch, out);
}

void attend_bf16(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
                 float* scratch, float* out) {
  attend(q, static_cast<const Brain*>(keys), static_cast<const Brain*>(values), positions, kv_stride, head_dim, scale, scratch, out);
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
