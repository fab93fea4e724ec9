#include "cpu/ops/constants.h"

#include <algorithm>
#include <cmath>

namespace teapot::cpu {

const float* Constants::inverse_frequencies(float theta, uint32_t rotary_dim) {
  const auto [entry, made] = frequencies_.try_emplace({theta, rotary_dim});
  std::vector<float>& result = entry->second;
  if (!made) return result.data();
  result.resize(rotary_dim / 2);
  for (size_t j = 0; j < result.size(); ++j) {
    const float exponent = static_cast<float>(2 * j) / static_cast<float>(rotary_dim);
    const auto power = static_cast<float>(std::pow(static_cast<double>(theta), static_cast<double>(exponent)));
    result[j] = 1.0f / power;
  }
  return result.data();
}

const float* Constants::sliced_conv(plan::VectorId id, const float* conv, const plan::StateLayout& layout) {
  const auto [entry, made] = convs_.try_emplace(id);
  std::vector<float>& result = entry->second;
  if (!made) return result.data();
  const size_t channels = layout.conv_channels();
  result.resize(layout.conv_kernel * channels);
  for (size_t first = 0; first < channels;) {
    const size_t width = first < 2 * size_t{layout.key_heads} * layout.dk ? layout.dk : layout.dv;
    for (size_t i = 0; i < layout.conv_kernel; ++i) {
      std::copy_n(conv + i * channels + first, width, result.data() + layout.conv_kernel * first + i * width);
    }
    first += width;
  }
  return result.data();
}

}  // namespace teapot::cpu
