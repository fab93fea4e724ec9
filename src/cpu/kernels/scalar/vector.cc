#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "cpu/kernels/scalar/entries.h"

namespace teapot::cpu::scalar {
namespace {

float sigmoid_of(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float silu_of(float x) { return x / (1.0f + std::exp(-x)); }

// In double: the vector tables have many partial sums, one chain of f32 would be less exact than they are.
double sum_of_squares(const float* x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

float inverse_rms(const float* x, size_t n, float eps) {
  return static_cast<float>(1.0 / std::sqrt(sum_of_squares(x, n) / static_cast<double>(n) + eps));
}

}  // namespace

void quantize(const float* x, size_t cols, int8_t* q, float* scales, int32_t* sums) {
  for (size_t begin = 0; begin < cols; begin += kQuantBlock) {
    float largest = 0;
    bool finite = true;
    for (size_t i = begin; i < begin + kQuantBlock; ++i) {
      finite = finite && std::isfinite(x[i]);
      largest = std::max(largest, std::fabs(x[i]));
    }
    const float scale = finite ? largest / 127.0f : std::numeric_limits<float>::quiet_NaN();
    scales[begin / kQuantBlock] = scale;
    for (size_t half = begin; half < begin + kQuantBlock; half += kQuantBlock / 2) {
      int32_t sum = 0;
      for (size_t i = half; i < half + kQuantBlock / 2; ++i) {
        // The quotient leaves the range where the scale is subnormal, and has no meaning where it is 0 or NaN.
        const float rounded = scale > 0 ? std::nearbyint(x[i] / scale) : 0;
        q[i] = static_cast<int8_t>(std::clamp(rounded, -127.0f, 127.0f));
        sum += q[i];
      }
      sums[half / (kQuantBlock / 2)] = sum;
    }
  }
}

void rms_norm(const float* x, const float* w, float eps, size_t n, float* y) {
  const float factor = inverse_rms(x, n, eps);
  for (size_t i = 0; i < n; ++i) y[i] = x[i] * factor * w[i];
}

void l2_norm(const float* x, float eps, float scale, size_t n, float* y) {
  const float factor = static_cast<float>(scale / std::sqrt(sum_of_squares(x, n) + eps));
  for (size_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

void gated_norm(const float* o, const float* z, const float* w, float eps, size_t n, float* y) {
  const float factor = inverse_rms(o, n, eps);
  for (size_t i = 0; i < n; ++i) y[i] = o[i] * factor * w[i] * silu_of(z[i]);
}

void silu_mul(const float* gate, const float* up, size_t n, float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = silu_of(gate[i]) * up[i];
}

void sigmoid_mul(const float* x, const float* gate, size_t n, float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i] * sigmoid_of(gate[i]);
}

void silu(const float* x, size_t n, float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = silu_of(x[i]);
}

void add_scaled(const float* x, float scale, size_t n, float* y) {
  for (size_t i = 0; i < n; ++i) y[i] += scale * x[i];
}

void conv_silu(const float* const* rows, const float* w, size_t kernel, size_t channels, float* out) {
  for (size_t c = 0; c < channels; ++c) {
    float sum = 0;
    for (size_t i = 0; i < kernel; ++i) sum += w[i * channels + c] * rows[i][c];
    out[c] = silu_of(sum);
  }
}

void gdn_head(const GdnHead& head, float* state, float* out) {
  for (size_t j = 0; j < head.dv; ++j) {
    float* column = state + j;
    size_t stride = head.dv;
    const GdnLog& log = head.pending;
    const uint64_t began = __builtin_ia32_rdtsc();
    for (size_t t = 0; t < log.tokens; ++t) {
      for (size_t i = 0; i < head.dk; ++i) {
        column[i * stride] *= log.alpha[t * log.stride];
        column[i * stride] += log.k[t * log.stride + i] * log.delta[t * log.stride + j];
      }
    }
    if (log.tokens > 0 && head.replay_ticks != nullptr) *head.replay_ticks += __builtin_ia32_rdtsc() - began;
    if (head.delta != nullptr) {
      for (size_t i = 0; i < head.dk; ++i) head.strip[i] = column[i * stride];
      column = head.strip;
      stride = 1;
    }
    for (size_t t = 0; t < head.tokens; ++t) {
      const float* q = head.q + t * head.q_stride;
      const float* k = head.k + t * head.k_stride;
      const float alpha = head.alpha[t * head.gate_stride], beta = head.beta[t * head.gate_stride];
      float predicted = 0;
      for (size_t i = 0; i < head.dk; ++i) {
        column[i * stride] *= alpha;
        predicted += column[i * stride] * k[i];
      }
      const float delta = beta * (head.v[t * head.v_stride + j] - predicted);
      if (head.delta != nullptr) head.delta[t * head.delta_stride + j] = delta;
      float read = 0;
      for (size_t i = 0; i < head.dk; ++i) {
        column[i * stride] += k[i] * delta;
        read += column[i * stride] * q[i];
      }
      out[t * head.out_stride + j] = read;
    }
  }
}

int32_t argmax(const float* x, size_t n) {
  int32_t best = -1;
  for (size_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return -1;
    if (best < 0 || x[i] > x[best]) best = static_cast<int32_t>(i);
  }
  return best;
}

float sum_exp(const float* x, float shift, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(x[i] - shift);
  return static_cast<float>(sum);
}

}  // namespace teapot::cpu::scalar
