// 256 weights of a quantised row as unsigned levels, scales and minima in registers (spec 5.5). AVX2 code, for all vector tables.
//
// weight = scale * (level - Format::kOffset) - min. Levels stand in the order of the columns.
// All is inlined by force: through memory, two stores of 32 bytes would have to become one load of 64.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/formats.h"

namespace teapot::cpu {
namespace {

constexpr size_t kGroupWeights = 256;

// A register of 32 levels, one block of 32 columns each. Wider ones (int8_512.h) have the same members.
struct Pieces256 {
  using Bytes = __m256i;
  static constexpr size_t kPieces = 8;             // to a group
  static constexpr bool kDotTakesAnyByte = false;  // levels above 127 as well

  // One register of kGroupWeights / kPieces levels from as many of 32 as it takes.
  static Bytes join(const __m256i* one) { return *one; }
  // The 64 levels of 32 bytes: low nibbles, then high ones.
  static void split_nibbles(const unsigned char* p, Bytes* pieces) {
    const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), low = _mm256_set1_epi8(15);
    pieces[0] = _mm256_and_si256(both, low);
    pieces[1] = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
  }
  // 32 bytes of bits: bit j of byte l adds `value` to level l of block j. The levels do not have that bit yet.
  template <int value>
  static void add_bits(const unsigned char* p, Bytes* pieces) {
    constexpr int kPlace = __builtin_ctz(value);
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      const __m256i bit = _mm256_and_si256(bits, _mm256_set1_epi8(static_cast<char>(1 << j)));
      const __m256i placed = j < kPlace ? _mm256_slli_epi16(bit, kPlace - j) : _mm256_srli_epi16(bit, j - kPlace);
      pieces[j] = _mm256_or_si256(pieces[j], placed);
    }
  }
};

template <class Format>
struct Scales {
  static constexpr size_t kRegisters = kGroupWeights / Format::kGroup / 8;
  __m256 scale[kRegisters];
  __m256 min[kRegisters];  // only in formats that have them
};

template <class S>
[[gnu::always_inline]] inline void join_all(const __m256i* levels, typename S::Bytes* pieces) {
#pragma GCC unroll 8
  for (size_t i = 0; i < S::kPieces; ++i) pieces[i] = S::join(levels + i * 8 / S::kPieces);
}

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

template <bool kWhole, class S, class Format>
  requires(Format::kElements == 32)
[[gnu::always_inline]] inline void unpack_levels(Format format, const unsigned char* p, size_t blocks, typename S::Bytes* pieces) {
  __m256i levels[8];
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) {
    levels[j] = kWhole || j < blocks ? block_levels(format, p + j * Format::kBytes) : _mm256_setzero_si256();
  }
  join_all<S>(levels, pieces);
}

template <bool kWhole, class S, class Format>
  requires(Format::kElements == 32)
[[gnu::always_inline]] inline void unpack_scales(Format, const unsigned char* p, size_t blocks, Scales<Format>& out) {
  out.scale[0] = halves_at<kWhole>(p, Format::kBytes, blocks);
  if constexpr (Format::kHasMin) {
    out.min[0] = _mm256_sub_ps(_mm256_setzero_ps(), halves_at<kWhole>(p + 2, Format::kBytes, blocks));
  }
}

// --- formats of 256 weights: always whole ---

// The 6-bit scales and minima of Q4_K and Q5_K. Behind d and dmin lie three words of four bytes: the first four scales, the first four
// minima, and nibbles of the other scales and minima, whose upper two bits are those of the first two words.
template <class Format>
[[gnu::always_inline]] inline void six_bit_scales(const unsigned char* b, Scales<Format>& out) {
  const __m128i head = load16(b);
  const __m128i low = _mm_and_si128(_mm_srlv_epi32(_mm_shuffle_epi32(head, 0b11'10'11'01), _mm_setr_epi32(0, 0, 0, 4)),
                                    _mm_setr_epi32(0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f));
  const __m128i upper =
      _mm_and_si128(_mm_srli_epi32(_mm_shuffle_epi32(head, 0b10'00'01'00), 2), _mm_setr_epi32(0, 0x30303030, 0, 0x30303030));
  const __m128i both = _mm_or_si128(low, upper);  // eight scales, eight minima
  const __m128 d = _mm_cvtph_ps(head);
  out.scale[0] = _mm256_mul_ps(_mm256_broadcastss_ps(d), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(both)));
  out.min[0] = _mm256_mul_ps(_mm256_broadcastss_ps(_mm_movehdup_ps(d)), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(both, 8))));
}

template <class S>
[[gnu::always_inline]] inline void k_nibbles(const unsigned char* qs, typename S::Bytes* pieces) {
#pragma GCC unroll 4
  for (size_t pair = 0; pair < 4; ++pair) S::split_nibbles(qs + 32 * pair, pieces + pair * S::kPieces / 4);
}

// With a dot that takes any byte, high nibbles stay where they are, 16 times too large, and their scales become as much smaller: exact.
template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_levels(Q4_K, const unsigned char* b, size_t, typename S::Bytes* pieces) {
  if constexpr (S::kDotTakesAnyByte) {
    S::mask_nibbles(b + 16, pieces);
  } else {
    k_nibbles<S>(b + 16, pieces);
  }
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_scales(Q4_K, const unsigned char* b, size_t, Scales<Q4_K>& out) {
  six_bit_scales(b, out);
  if constexpr (S::kDotTakesAnyByte) {
    constexpr float kHigh = 1.0f / 16;
    out.scale[0] = _mm256_mul_ps(out.scale[0], _mm256_setr_ps(1, kHigh, 1, kHigh, 1, kHigh, 1, kHigh));
  }
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_levels(Q5_K, const unsigned char* b, size_t, typename S::Bytes* pieces) {
  k_nibbles<S>(b + 48, pieces);
  S::template add_bits<16>(b + 16, pieces);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_scales(Q5_K, const unsigned char* b, size_t, Scales<Q5_K>& out) {
  six_bit_scales(b, out);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_levels(Q6_K, const unsigned char* b, size_t, typename S::Bytes* pieces) {
  __m256i levels[8];
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
    const __m256i a = load32(b + 64 * half), c = load32(b + 64 * half + 32), high = load32(b + 128 + 32 * half);
    __m256i* const level = levels + 4 * half;
    level[0] = _mm256_or_si256(low_bits(a, 15), _mm256_slli_epi16(low_bits(high, 0x03), 4));
    level[1] = _mm256_or_si256(low_bits(c, 15), _mm256_slli_epi16(low_bits(high, 0x0c), 2));
    level[2] = _mm256_or_si256(low_bits(_mm256_srli_epi16(a, 4), 15), low_bits(high, 0x30));
    level[3] = _mm256_or_si256(low_bits(_mm256_srli_epi16(c, 4), 15), _mm256_srli_epi16(low_bits(high, 0xc0), 2));
  }
  join_all<S>(levels, pieces);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_scales(Q6_K, const unsigned char* b, size_t, Scales<Q6_K>& out) {
  const __m128i scales = load16(b + 192);
  const __m256 d = half_at(b + 208);
  out.scale[0] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(scales)));
  out.scale[1] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(scales, 8))));
}

// Weight 128n + 32j + l lies in byte 32n + l at bit 2j.
template <class S>
[[gnu::always_inline]] inline void two_bits(const unsigned char* qs, typename S::Bytes* pieces) {
  __m256i levels[8];
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
    const __m256i four = load32(qs + 32 * half);
    levels[4 * half] = low_bits(four, 3);
    levels[4 * half + 1] = low_bits(_mm256_srli_epi16(four, 2), 3);
    levels[4 * half + 2] = low_bits(_mm256_srli_epi16(four, 4), 3);
    levels[4 * half + 3] = low_bits(_mm256_srli_epi16(four, 6), 3);
  }
  join_all<S>(levels, pieces);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_levels(Q2_K, const unsigned char* b, size_t, typename S::Bytes* pieces) {
  two_bits<S>(b + 16, pieces);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_scales(Q2_K, const unsigned char* b, size_t, Scales<Q2_K>& out) {
  constexpr uint64_t kLow4 = 0x0f0f0f0f0f0f0f0f;
  const __m256 d = half_at(b + 80), dmin = half_at(b + 82);
#pragma GCC unroll 2
  for (size_t i = 0; i < 2; ++i) {
    const auto both = load_as<uint64_t>(b + 8 * i);
    out.scale[i] = _mm256_mul_ps(d, floats_of_unsigned(both & kLow4));
    out.min[i] = _mm256_mul_ps(dmin, floats_of_unsigned(both >> 4 & kLow4));
  }
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_levels(Q3_K, const unsigned char* b, size_t, typename S::Bytes* pieces) {
  two_bits<S>(b + 32, pieces);
  S::template add_bits<4>(b, pieces);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_scales(Q3_K, const unsigned char* b, size_t, Scales<Q3_K>& out) {
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

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_levels(IQ4_XS, const unsigned char* b, size_t, typename S::Bytes* pieces) {
  __m256i levels[8];
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) levels[j] = iq4_levels(nibbles(b + 8 + 16 * j));
  join_all<S>(levels, pieces);
}

template <bool kWhole, class S>
[[gnu::always_inline]] inline void unpack_scales(IQ4_XS, const unsigned char* b, size_t, Scales<IQ4_XS>& out) {
  const __m256i low = _mm256_srlv_epi32(_mm256_set1_epi32(load_as<int32_t>(b + 4)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  const __m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(load_as<uint16_t>(b + 2)), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
  const __m256i scales =
      _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)), _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
  out.scale[0] = _mm256_mul_ps(half_at(b), _mm256_cvtepi32_ps(_mm256_sub_epi32(scales, _mm256_set1_epi32(32))));
}

}  // namespace
}  // namespace teapot::cpu
