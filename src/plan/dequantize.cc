#include "plan/dequantize.h"

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/half.h"

namespace teapot::plan {
namespace {

using Bytes = const uint8_t*;

// The formats are little-endian, as the machines this runs on.
static_assert(std::endian::native == std::endian::little);

template <class T>
T load(Bytes at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

float load_f16(Bytes at) { return f16_to_f32(load<uint16_t>(at)); }

// The 16 levels of IQ4_NL and IQ4_XS (spec 5.5).
constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void f32_block(Bytes block, float* out) { *out = load<float>(block); }
void f16_block(Bytes block, float* out) { *out = load_f16(block); }
void bf16_block(Bytes block, float* out) { *out = bf16_to_f32(load<uint16_t>(block)); }

// d f16, q int8[32]
void q8_0_block(Bytes block, float* out) {
  const float d = load_f16(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

// d f16, q u8[16]: low nibbles are the first half
void q4_0_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const Bytes q = block + 2;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((q[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((q[i] >> 4) - 8);
  }
}

// d f16, m f16, q u8[16]
void q4_1_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const Bytes q = block + 4;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(q[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(q[i] >> 4) + m;
  }
}

// d f16, fifth bits u32 (bit i is weight i's), q u8[16]
void q5_0_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const uint32_t fifth = load<uint32_t>(block + 2);
  const Bytes q = block + 6;
  for (int i = 0; i < 16; ++i) {
    const int low = (q[i] & 15) | static_cast<int>((fifth >> i) & 1) << 4;
    const int high = (q[i] >> 4) | static_cast<int>((fifth >> (i + 16)) & 1) << 4;
    out[i] = d * static_cast<float>(low - 16);
    out[i + 16] = d * static_cast<float>(high - 16);
  }
}

// d f16, m f16, fifth bits u32, q u8[16]
void q5_1_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const uint32_t fifth = load<uint32_t>(block + 4);
  const Bytes q = block + 8;
  for (int i = 0; i < 16; ++i) {
    const int low = (q[i] & 15) | static_cast<int>((fifth >> i) & 1) << 4;
    const int high = (q[i] >> 4) | static_cast<int>((fifth >> (i + 16)) & 1) << 4;
    out[i] = d * static_cast<float>(low) + m;
    out[i + 16] = d * static_cast<float>(high) + m;
  }
}

// scales u8[16] (low nibble scale, high nibble min, of 16 weights each), q u8[64], d f16, dmin f16. Each half of 128 weights has 32
// bytes of q; their bit pairs are four runs of 32 weights.
void q2_k_block(Bytes block, float* out) {
  const Bytes scales = block;
  const Bytes q = block + 16;
  const float d = load_f16(block + 80);
  const float dmin = load_f16(block + 82);
  for (int i = 0; i < 256; ++i) {
    const int scale = scales[i / 16];
    const int value = (q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    out[i] = (d * static_cast<float>(scale & 15)) * static_cast<float>(value) - dmin * static_cast<float>(scale >> 4);
  }
}

// third bits u8[32] (bit j of byte l is weight 32 j + l's), q u8[64] as in Q2_K, scales u8[12]: 16 of 6 bits, low nibbles in the
// first 8 bytes, high bit pairs in the last 4; d f16. A third bit that is not set subtracts 4.
void q3_k_block(Bytes block, float* out) {
  const Bytes third = block;
  const Bytes q = block + 32;
  const Bytes scales = block + 96;
  const float d = load_f16(block + 108);
  for (int i = 0; i < 256; ++i) {
    const int group = i / 16;
    const int low = (scales[group % 8] >> (group / 8 * 4)) & 15;
    const int high = (scales[8 + group % 4] >> (group / 4 * 2)) & 3;
    const int value = (q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    const int offset = (third[i % 32] >> (i / 32)) & 1 ? 0 : 4;
    out[i] = (d * static_cast<float>((low | high << 4) - 32)) * static_cast<float>(value - offset);
  }
}

// Scale and min of sub-block j, 6 bits each, of Q4_K and Q5_K.
struct ScaleMin {
  int scale;
  int min;
};

ScaleMin scale_min(Bytes scales, int j) {
  if (j < 4) return {scales[j] & 63, scales[j + 4] & 63};
  return {(scales[j + 4] & 15) | scales[j - 4] >> 6 << 4, scales[j + 4] >> 4 | scales[j] >> 6 << 4};
}

// d f16, dmin f16, scales u8[12], q u8[128]: 32 bytes are a pair of sub-blocks, low nibbles the first
void q4_k_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const float dmin = load_f16(block + 2);
  const Bytes q = block + 16;
  for (int j = 0; j < 8; ++j) {
    const auto [scale, min] = scale_min(block + 4, j);
    const float step = d * static_cast<float>(scale);
    const float base = dmin * static_cast<float>(min);
    for (int l = 0; l < 32; ++l) out[32 * j + l] = step * static_cast<float>((q[j / 2 * 32 + l] >> (j % 2 * 4)) & 15) - base;
  }
}

// d f16, dmin f16, scales u8[12], fifth bits u8[32] (bit j of byte l: sub-block j, weight l), q u8[128] as in Q4_K
void q5_k_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const float dmin = load_f16(block + 2);
  const Bytes fifth = block + 16;
  const Bytes q = block + 48;
  for (int j = 0; j < 8; ++j) {
    const auto [scale, min] = scale_min(block + 4, j);
    const float step = d * static_cast<float>(scale);
    const float base = dmin * static_cast<float>(min);
    for (int l = 0; l < 32; ++l) {
      const int value = ((q[j / 2 * 32 + l] >> (j % 2 * 4)) & 15) | ((fifth[l] >> j) & 1) << 4;
      out[32 * j + l] = step * static_cast<float>(value) - base;
    }
  }
}

// low nibbles u8[128], high bit pairs u8[64], scales int8[16], d f16. A half of 128 weights has 64 and 32 bytes; of them, run r of 32
// weights has the nibbles of bytes 32 (r % 2) .. and bit pair r.
void q6_k_block(Bytes block, float* out) {
  const Bytes low = block;
  const Bytes high = block + 128;
  const Bytes scales = block + 192;
  const float d = load_f16(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128;
    const int run = i % 128 / 32;
    const int nibble = (low[half * 64 + run % 2 * 32 + i % 32] >> (run / 2 * 4)) & 15;
    const int pair = (high[half * 32 + i % 32] >> (run * 2)) & 3;
    out[i] = (d * static_cast<float>(static_cast<int8_t>(scales[i / 16]))) * static_cast<float>((nibble | pair << 4) - 32);
  }
}

// d f16, q u8[16]
void iq4_nl_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const Bytes q = block + 2;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(kIq4Levels[q[i] & 15]);
    out[i + 16] = d * static_cast<float>(kIq4Levels[q[i] >> 4]);
  }
}

// d f16, high bit pairs of the scales u16, their low nibbles u8[4], q u8[128]: 16 bytes a sub-block of 32
void iq4_xs_block(Bytes block, float* out) {
  const float d = load_f16(block);
  const int high = load<uint16_t>(block + 2);
  for (int j = 0; j < 8; ++j) {
    const int scale = ((block[4 + j / 2] >> (j % 2 * 4)) & 15) | ((high >> (2 * j)) & 3) << 4;
    const float step = d * static_cast<float>(scale - 32);
    const Bytes q = block + 8 + 16 * j;
    for (int i = 0; i < 16; ++i) {
      out[32 * j + i] = step * static_cast<float>(kIq4Levels[q[i] & 15]);
      out[32 * j + 16 + i] = step * static_cast<float>(kIq4Levels[q[i] >> 4]);
    }
  }
}

template <void (*block_to_f32)(Bytes, float*)>
void row_to_f32(WeightType type, Bytes blocks, size_t cols, float* out) {
  const WeightTypeInfo& format = info(type);
  for (size_t i = 0; i < cols; i += format.elements, blocks += format.bytes) block_to_f32(blocks, out + i);
}

}  // namespace

void dequantize_row(WeightType type, const std::byte* blocks, size_t cols, float* out) {
  assert(cols % info(type).elements == 0);
  const Bytes bytes = reinterpret_cast<Bytes>(blocks);
  switch (type) {
    case WeightType::kF32:
      return row_to_f32<f32_block>(type, bytes, cols, out);
    case WeightType::kF16:
      return row_to_f32<f16_block>(type, bytes, cols, out);
    case WeightType::kBF16:
      return row_to_f32<bf16_block>(type, bytes, cols, out);
    case WeightType::kQ8_0:
      return row_to_f32<q8_0_block>(type, bytes, cols, out);
    case WeightType::kQ4_0:
      return row_to_f32<q4_0_block>(type, bytes, cols, out);
    case WeightType::kQ4_1:
      return row_to_f32<q4_1_block>(type, bytes, cols, out);
    case WeightType::kQ5_0:
      return row_to_f32<q5_0_block>(type, bytes, cols, out);
    case WeightType::kQ5_1:
      return row_to_f32<q5_1_block>(type, bytes, cols, out);
    case WeightType::kQ2_K:
      return row_to_f32<q2_k_block>(type, bytes, cols, out);
    case WeightType::kQ3_K:
      return row_to_f32<q3_k_block>(type, bytes, cols, out);
    case WeightType::kQ4_K:
      return row_to_f32<q4_k_block>(type, bytes, cols, out);
    case WeightType::kQ5_K:
      return row_to_f32<q5_k_block>(type, bytes, cols, out);
    case WeightType::kQ6_K:
      return row_to_f32<q6_k_block>(type, bytes, cols, out);
    case WeightType::kIQ4_NL:
      return row_to_f32<iq4_nl_block>(type, bytes, cols, out);
    case WeightType::kIQ4_XS:
      return row_to_f32<iq4_xs_block>(type, bytes, cols, out);
  }
}

}  // namespace teapot::plan
