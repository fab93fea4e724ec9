// Block formats, read plainly (spec 5.5): one block becomes integers, and for each group of 16 or 32 of them a scale and a minimum, so
// that weight = scale * q - min. Products of scales are exact or rounded to f32 once, as the files' own reference does it.
#pragma once

#include <bit>
#include <cstring>

#include "base/half.h"
#include "cpu/kernels/formats.h"
#include "cpu/kernels/kernels.h"

namespace teapot::cpu::scalar {

struct Levels {
  int8_t q[256];
  float scale[16];  // one a group
  float min[16];    // zero in formats that have none
};

inline float half_at(const unsigned char* p) {
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  return f16_to_f32(bits);
}

inline void decode(Q8_0, const unsigned char* b, Levels& out) {
  out.scale[0] = half_at(b);
  out.min[0] = 0;
  std::memcpy(out.q, b + 2, 32);
}

// 16 bytes of nibbles: the low ones are the first half of the block.
inline void nibbles(const unsigned char* qs, int offset, Levels& out) {
  for (int i = 0; i < 16; ++i) {
    out.q[i] = static_cast<int8_t>((qs[i] & 15) - offset);
    out.q[i + 16] = static_cast<int8_t>((qs[i] >> 4) - offset);
  }
}

// The fifth bits of a block of 32.
inline void add_fifth_bits(const unsigned char* qh, Levels& out) {
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<int8_t>(out.q[i] + ((qh[i / 8] >> (i % 8)) & 1) * 16);
}

inline void decode(Q4_0, const unsigned char* b, Levels& out) {
  out.scale[0] = half_at(b);
  out.min[0] = 0;
  nibbles(b + 2, 8, out);
}

inline void decode(Q4_1, const unsigned char* b, Levels& out) {
  out.scale[0] = half_at(b);
  out.min[0] = -half_at(b + 2);
  nibbles(b + 4, 0, out);
}

inline void decode(Q5_0, const unsigned char* b, Levels& out) {
  out.scale[0] = half_at(b);
  out.min[0] = 0;
  nibbles(b + 6, 16, out);
  add_fifth_bits(b + 2, out);
}

inline void decode(Q5_1, const unsigned char* b, Levels& out) {
  out.scale[0] = half_at(b);
  out.min[0] = -half_at(b + 2);
  nibbles(b + 8, 0, out);
  add_fifth_bits(b + 4, out);
}

constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

inline void decode(IQ4_NL, const unsigned char* b, Levels& out) {
  out.scale[0] = half_at(b);
  out.min[0] = 0;
  nibbles(b + 2, 0, out);
  for (int i = 0; i < 32; ++i) out.q[i] = kIq4Levels[out.q[i]];
}

inline void decode(IQ4_XS, const unsigned char* b, Levels& out) {
  const float d = half_at(b);
  const unsigned high = b[2] | b[3] << 8;
  for (int j = 0; j < 8; ++j) {
    const unsigned low = b[4 + j / 2] >> 4 * (j % 2) & 15;
    out.scale[j] = d * static_cast<float>(static_cast<int>(low | (high >> 2 * j & 3) << 4) - 32);
    out.min[j] = 0;
    for (int i = 0; i < 16; ++i) {
      const unsigned char pair = b[8 + 16 * j + i];
      out.q[32 * j + i] = kIq4Levels[pair & 15];
      out.q[32 * j + 16 + i] = kIq4Levels[pair >> 4];
    }
  }
}

// 2 bits a weight, of 128 weights in 32 bytes: weight 128n + 32j + l lies in byte 32n + l at bit 2j.
inline int two_bits(const unsigned char* qs, int e) { return qs[32 * (e / 128) + e % 32] >> 2 * (e / 32 % 4) & 3; }

inline void decode(Q2_K, const unsigned char* b, Levels& out) {
  const float d = half_at(b + 80), dmin = half_at(b + 82);
  for (int g = 0; g < 16; ++g) {
    out.scale[g] = d * static_cast<float>(b[g] & 15);
    out.min[g] = dmin * static_cast<float>(b[g] >> 4);
  }
  for (int e = 0; e < 256; ++e) out.q[e] = static_cast<int8_t>(two_bits(b + 16, e));
}

inline void decode(Q3_K, const unsigned char* b, Levels& out) {
  const float d = half_at(b + 108);
  const unsigned char* s = b + 96;
  for (int g = 0; g < 16; ++g) {  // four low bits in the first 8 bytes, two high bits in the last 4
    const int low = s[g % 8] >> 4 * (g / 8) & 15, high = s[8 + g % 4] >> 2 * (g / 4) & 3;
    out.scale[g] = d * static_cast<float>((low | high << 4) - 32);
    out.min[g] = 0;
  }
  for (int e = 0; e < 256; ++e) {
    const int third = b[e % 32] >> e / 32 & 1;
    out.q[e] = static_cast<int8_t>(two_bits(b + 32, e) - 4 + 4 * third);
  }
}

// The 6-bit scales and minima of Q4_K and Q5_K.
inline void six_bit_scales(const unsigned char* b, Levels& out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  const unsigned char* s = b + 4;
  for (int j = 0; j < 8; ++j) {
    const int scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
    const int min = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
    out.scale[j] = d * static_cast<float>(scale);
    out.min[j] = dmin * static_cast<float>(min);
  }
}

// Nibbles of 64 weights in 32 bytes: the low ones are the first 32.
inline int k_nibble(const unsigned char* qs, int e) { return qs[32 * (e / 64) + e % 32] >> 4 * (e / 32 % 2) & 15; }

inline void decode(Q4_K, const unsigned char* b, Levels& out) {
  six_bit_scales(b, out);
  for (int e = 0; e < 256; ++e) out.q[e] = static_cast<int8_t>(k_nibble(b + 16, e));
}

inline void decode(Q5_K, const unsigned char* b, Levels& out) {
  six_bit_scales(b, out);
  for (int e = 0; e < 256; ++e) out.q[e] = static_cast<int8_t>(k_nibble(b + 48, e) + (b[16 + e % 32] >> e / 32 & 1) * 16);
}

inline void decode(Q6_K, const unsigned char* b, Levels& out) {
  const float d = half_at(b + 208);
  for (int g = 0; g < 16; ++g) {
    out.scale[g] = d * static_cast<float>(std::bit_cast<int8_t>(b[192 + g]));
    out.min[g] = 0;
  }
  for (int e = 0; e < 256; ++e) {  // halves of 128: 64 bytes of low nibbles, 32 bytes of high pairs
    const int low = b[64 * (e / 128) + e % 64] >> 4 * (e / 64 % 2) & 15;
    out.q[e] = static_cast<int8_t>((low | two_bits(b + 128, e) << 4) - 32);
  }
}

// Weights [column, column + count) of a row as f32. Quantised formats: column and count are whole blocks, count <= 256.
template <class Format>
void dequantize(const unsigned char* row, size_t column, size_t count, float* w) {
  for (size_t c = 0; c < count; c += Format::kElements) {
    Levels levels;
    decode(Format(), row + (column + c) / Format::kElements * Format::kBytes, levels);
    for (size_t i = 0; i < Format::kElements; ++i) {
      const size_t group = i / Format::kGroup;
      w[c + i] = levels.scale[group] * static_cast<float>(levels.q[i]) - levels.min[group];
    }
  }
}

template <>
inline void dequantize<F32>(const unsigned char* row, size_t column, size_t count, float* w) {
  std::memcpy(w, row + 4 * column, 4 * count);
}
template <>
inline void dequantize<F16>(const unsigned char* row, size_t column, size_t count, float* w) {
  for (size_t i = 0; i < count; ++i) w[i] = half_at(row + 2 * (column + i));
}
template <>
inline void dequantize<BF16>(const unsigned char* row, size_t column, size_t count, float* w) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, row + 2 * (column + i), 2);
    w[i] = bf16_to_f32(bits);
  }
}

}  // namespace teapot::cpu::scalar
