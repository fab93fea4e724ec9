#include "cpu/kernels/avx512/entries.h"
#include "cpu/kernels/avx512/vec.h"
#include "cpu/kernels/simd/elementwise.h"
#include "cpu/kernels/simd/gdn.h"

namespace teapot::cpu::avx512 {

void rms_norm(const float* x, const float* w, float eps, size_t n, float* y) { rms_norm_of<Vec>(x, w, eps, n, y); }

void l2_norm(const float* x, float eps, float scale, size_t n, float* y) { l2_norm_of<Vec>(x, eps, scale, n, y); }

void gated_norm(const float* o, const float* z, const float* w, float eps, size_t n, float* y) { gated_norm_of<Vec>(o, z, w, eps, n, y); }

void silu_mul(const float* gate, const float* up, size_t n, float* y) {
  map<Vec>(gate, up, n, y, [](auto g, auto u) { return Vec::mul(silu_of<Vec>(g), u); });
}

void sigmoid_mul(const float* x, const float* gate, size_t n, float* y) {
  map<Vec>(x, gate, n, y, [](auto value, auto g) { return Vec::mul(value, sigmoid_of<Vec>(g)); });
}

void silu(const float* x, size_t n, float* y) {
  map<Vec>(x, x, n, y, [](auto value, auto) { return silu_of<Vec>(value); });
}

void add_scaled(const float* x, float scale, size_t n, float* y) {
  map<Vec>(x, y, n, y, [factor = Vec::set(scale)](auto value, auto sum) { return Vec::fma(factor, value, sum); });
}

void conv_silu(const float* const* rows, const float* w, size_t kernel, size_t channels, float* out) {
  conv_silu_of<Vec>(rows, w, kernel, channels, out);
}

void gdn_head(const GdnHead& head, float* state, float* out) { gdn_head_of<Vec>(head, state, out); }

int32_t argmax(const float* x, size_t n) { return argmax_of<Vec>(x, n); }

float sum_exp(const float* x, float shift, size_t n) { return sum_exp_of<Vec>(x, shift, n); }

}  // namespace teapot::cpu::avx512
