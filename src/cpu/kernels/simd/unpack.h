// 256 weights of a quantised row as unsigned levels, scales and minima in registers (spec 5.5). AVX2 code, for all vector tables.
//
// weight = scale * (level - Format::kOffset) - min. Levels stand in the order of the columns, 32 in a register.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/formats.h"

namespace teapot::cpu {
namespace {

constexpr size_t kGroupWeights = 256;

template <class Format>
struct Levels {
  static constexpr size_t kScales = kGroupWeights / Format::kGroup / 8;  // registers of 8
  __m256i level[8];
  __m256 scale[kScales];
  __m256 min[kScales];  // only in formats that have them
};

template <class T>
T load_as(const unsigned char* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}

inline __m128i load16(const unsigned char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline __m256i load32(const unsigned char* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline __m256i bytes_of(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
inline __m256i low_bits(__m256i x, int mask) { return _mm256_and_si256(x, bytes_of(mask)); }
inline __m256 half_at(const unsigned char* p) { return _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(load_as<uint16_t>(p)))); }
inline __m256 floats_of_unsigned(uint64_t bytes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes))));
}

// --- formats of 32 weights: up to eight blocks are a group ---

inline __m256i nibbles(const unsigned char* qs) {
  const __m128i both = load16(qs);
  return low_bits(_mm256_inserti128_si256(_mm256_castsi128_si256(both), _mm_srli_epi16(both, 4), 1), 15);
}

// 16 where bit i of the word is set, for level i.
inline __m256i fifth_bits(const unsigned char* qh) {
  const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(load_as<int32_t>(qh)),
                                             _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  return low_bits(_mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit), 16);
}

// The 4-bit levels of IQ4, with 128 added.
inline __m256i iq4_levels(__m256i index) {
  const __m128i levels =
      _mm_setr_epi8(1, 24, 45, 63, 79, 93, 106, 118, static_cast<char>(129), static_cast<char>(141), static_cast<char>(153),
                    static_cast<char>(166), static_cast<char>(181), static_cast<char>(197), static_cast<char>(217), static_cast<char>(241));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(levels), index);
}

inline __m256i block_levels(Q8_0, const unsigned char* b) { return _mm256_xor_si256(load32(b + 2), bytes_of(0x80)); }
inline __m256i block_levels(Q4_0, const unsigned char* b) { return nibbles(b + 2); }
inline __m256i block_levels(Q4_1, const unsigned char* b) { return nibbles(b + 4); }
inline __m256i block_levels(Q5_0, const unsigned char* b) { return _mm256_or_si256(nibbles(b + 6), fifth_bits(b + 2)); }
inline __m256i block_levels(Q5_1, const unsigned char* b) { return _mm256_or_si256(nibbles(b + 8), fifth_bits(b + 4)); }
inline __m256i block_levels(IQ4_NL, const unsigned char* b) { return iq4_levels(nibbles(b + 2)); }

// The halves at p, p + stride, ...: eight, or fewer and zeros.
template <bool kWhole>
__m256 halves_at(const unsigned char* p, size_t stride, size_t count) {
  const auto half = [&](size_t i) { return kWhole || i < count ? load_as<int16_t>(p + i * stride) : int16_t{0}; };
  return _mm256_cvtph_ps(_mm_setr_epi16(half(0), half(1), half(2), half(3), half(4), half(5), half(6), half(7)));
}

template <bool kWhole, class Format>
void unpack(Format format, const unsigned char* p, size_t blocks, Levels<Format>& out) {
  static_assert(Format::kElements == 32);
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) {
    out.level[j] = kWhole || j < blocks ? block_levels(format, p + j * Format::kBytes) : _mm256_setzero_si256();
  }
  out.scale[0] = halves_at<kWhole>(p, Format::kBytes, blocks);
  if constexpr (Format::kHasMin) {
    out.min[0] = _mm256_sub_ps(_mm256_setzero_ps(), halves_at<kWhole>(p + 2, Format::kBytes, blocks));
  }
}

// --- formats of 256 weights: always whole ---

// The 6-bit scales and minima of Q4_K and Q5_K: 4 + 4 with their upper bits in place, the other 8 with theirs in the first 8 bytes.
template <class Format>
void six_bit_scales(const unsigned char* b, Levels<Format>& out) {
  constexpr uint32_t kLow6 = 0x3f3f3f3f, kLow4 = 0x0f0f0f0f, kUpper2 = 0x30303030;
  const auto first = load_as<uint32_t>(b + 4), second = load_as<uint32_t>(b + 8), third = load_as<uint32_t>(b + 12);
  const uint64_t scales = (first & kLow6) | static_cast<uint64_t>((third & kLow4) | (first >> 2 & kUpper2)) << 32;
  const uint64_t mins = (second & kLow6) | static_cast<uint64_t>((third >> 4 & kLow4) | (second >> 2 & kUpper2)) << 32;
  out.scale[0] = _mm256_mul_ps(half_at(b), floats_of_unsigned(scales));
  out.min[0] = _mm256_mul_ps(half_at(b + 2), floats_of_unsigned(mins));
}

template <class Format>
void k_nibbles(const unsigned char* qs, Levels<Format>& out) {
#pragma GCC unroll 4
  for (size_t pair = 0; pair < 4; ++pair) {
    const __m256i both = load32(qs + 32 * pair);
    out.level[2 * pair] = low_bits(both, 15);
    out.level[2 * pair + 1] = low_bits(_mm256_srli_epi16(both, 4), 15);
  }
}

template <bool kWhole>
void unpack(Q4_K, const unsigned char* b, size_t, Levels<Q4_K>& out) {
  six_bit_scales(b, out);
  k_nibbles(b + 16, out);
}

// x << n within bytes, n negative to the right; the bits that are left are known not to cross a byte.
template <int n>
__m256i shifted(__m256i x) {
  if constexpr (n >= 0) return _mm256_slli_epi16(x, n);
  return _mm256_srli_epi16(x, n >= 0 ? 0 : -n);
}

template <int j>
void add_fifth_bit(__m256i high, Levels<Q5_K>& out) {
  out.level[j] = _mm256_or_si256(out.level[j], shifted<4 - j>(low_bits(high, 1 << j)));
}

template <bool kWhole>
void unpack(Q5_K, const unsigned char* b, size_t, Levels<Q5_K>& out) {
  six_bit_scales(b, out);
  k_nibbles(b + 48, out);
  const __m256i high = load32(b + 16);
  add_fifth_bit<0>(high, out);
  add_fifth_bit<1>(high, out);
  add_fifth_bit<2>(high, out);
  add_fifth_bit<3>(high, out);
  add_fifth_bit<4>(high, out);
  add_fifth_bit<5>(high, out);
  add_fifth_bit<6>(high, out);
  add_fifth_bit<7>(high, out);
}

template <bool kWhole>
void unpack(Q6_K, const unsigned char* b, size_t, Levels<Q6_K>& out) {
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
    const __m256i a = load32(b + 64 * half), c = load32(b + 64 * half + 32), high = load32(b + 128 + 32 * half);
    __m256i* const level = out.level + 4 * half;
    level[0] = _mm256_or_si256(low_bits(a, 15), _mm256_slli_epi16(low_bits(high, 0x03), 4));
    level[1] = _mm256_or_si256(low_bits(c, 15), _mm256_slli_epi16(low_bits(high, 0x0c), 2));
    level[2] = _mm256_or_si256(low_bits(_mm256_srli_epi16(a, 4), 15), low_bits(high, 0x30));
    level[3] = _mm256_or_si256(low_bits(_mm256_srli_epi16(c, 4), 15), _mm256_srli_epi16(low_bits(high, 0xc0), 2));
  }
  const __m128i scales = load16(b + 192);
  const __m256 d = half_at(b + 208);
  out.scale[0] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(scales)));
  out.scale[1] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(scales, 8))));
}

// Weight 128n + 32j + l lies in byte 32n + l at bit 2j.
template <class Format>
void two_bits(const unsigned char* qs, Levels<Format>& out) {
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
    const __m256i four = load32(qs + 32 * half);
    out.level[4 * half] = low_bits(four, 3);
    out.level[4 * half + 1] = low_bits(_mm256_srli_epi16(four, 2), 3);
    out.level[4 * half + 2] = low_bits(_mm256_srli_epi16(four, 4), 3);
    out.level[4 * half + 3] = low_bits(_mm256_srli_epi16(four, 6), 3);
  }
}

template <bool kWhole>
void unpack(Q2_K, const unsigned char* b, size_t, Levels<Q2_K>& out) {
  constexpr uint64_t kLow4 = 0x0f0f0f0f0f0f0f0f;
  two_bits(b + 16, out);
  const __m256 d = half_at(b + 80), dmin = half_at(b + 82);
#pragma GCC unroll 2
  for (size_t i = 0; i < 2; ++i) {
    const auto both = load_as<uint64_t>(b + 8 * i);
    out.scale[i] = _mm256_mul_ps(d, floats_of_unsigned(both & kLow4));
    out.min[i] = _mm256_mul_ps(dmin, floats_of_unsigned(both >> 4 & kLow4));
  }
}

template <int j>
void add_third_bit(__m256i high, Levels<Q3_K>& out) {
  out.level[j] = _mm256_or_si256(out.level[j], shifted<2 - j>(low_bits(high, 1 << j)));
}

template <bool kWhole>
void unpack(Q3_K, const unsigned char* b, size_t, Levels<Q3_K>& out) {
  two_bits(b + 32, out);
  const __m256i high = load32(b);
  add_third_bit<0>(high, out);
  add_third_bit<1>(high, out);
  add_third_bit<2>(high, out);
  add_third_bit<3>(high, out);
  add_third_bit<4>(high, out);
  add_third_bit<5>(high, out);
  add_third_bit<6>(high, out);
  add_third_bit<7>(high, out);
  // 6-bit scales less 32: low nibbles of the 16 in 8 bytes, upper pairs in 4 bytes, four to a byte.
  constexpr uint64_t kLow4 = 0x0f0f0f0f0f0f0f0f;
  constexpr uint32_t kLow2 = 0x03030303;
  const auto low = load_as<uint64_t>(b + 96);
  const auto upper = load_as<uint32_t>(b + 104);
  const __m256 d = half_at(b + 108), offset = _mm256_set1_ps(32.0f);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const uint64_t pairs = (upper >> 4 * i & kLow2) | static_cast<uint64_t>(upper >> (4 * i + 2) & kLow2) << 32;
    const __m256 scales = floats_of_unsigned((low >> 4 * i & kLow4) | pairs << 4);
    out.scale[i] = _mm256_mul_ps(d, _mm256_sub_ps(scales, offset));
  }
}

template <bool kWhole>
void unpack(IQ4_XS, const unsigned char* b, size_t, Levels<IQ4_XS>& out) {
  const __m256i low = _mm256_srlv_epi32(_mm256_set1_epi32(load_as<int32_t>(b + 4)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  const __m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(load_as<uint16_t>(b + 2)), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
  const __m256i scales =
      _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)), _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
  out.scale[0] = _mm256_mul_ps(half_at(b), _mm256_cvtepi32_ps(_mm256_sub_epi32(scales, _mm256_set1_epi32(32))));
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) out.level[j] = iq4_levels(nibbles(b + 8 + 16 * j));
}

}  // namespace
}  // namespace teapot::cpu
