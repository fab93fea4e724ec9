// Tiles of quantised rows x int8 activations where the processor multiplies matrices of bytes. The integer dots are exact, the sums over
// panels have the order of kernels.h: the bits are those of the other tables. Few tokens are left to VNNI, which needs no detour by memory.
#include <immintrin.h>

#include "cpu/kernels/amx/entries.h"
#include "cpu/kernels/amx/registers.h"
#include "cpu/kernels/avx512vnni/entries.h"
#include "cpu/kernels/avx512vnni/tiled.h"
#include "cpu/kernels/simd/tiled_int8.h"

namespace teapot::cpu::amx {
namespace {

using S = TiledLanes;

// Fewer tokens are quicker with VNNI: measured on a Xeon from memory, 8 tokens Q4_K 18.8 against 18.4 GB/s, 16 tokens from L2 8.6
// against 6.6; in Q6_K, whose panels take two dots, 16 tokens 7.2 against 6.1.
template <class Format>
constexpr size_t kMinTokens = kPanelGroups<Format> == 2 ? 12 : 9;

// Registers: 0, 1 dots [tokens, 16 rows]; 4, 5 tokens [tokens, 4 * dwords]; 6, 7 levels [dwords, 16 rows of 4].
struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  Config(size_t tokens, size_t dwords) {
    for (size_t i = 0; i < 2; ++i) set(i, tokens, 64);
    for (size_t i = 4; i < 6; ++i) set(i, tokens, 4 * dwords);
    for (size_t i = 6; i < 8; ++i) set(i, dwords, 64);
  }

 private:
  void set(size_t index, size_t count, size_t bytes) {
    rows[index] = static_cast<uint8_t>(count);
    row_bytes[index] = static_cast<uint16_t>(bytes);
  }
};

// A panel is unpacked, kDistance panels later multiplied, as many later added up: a matrix register cannot be loaded from a store that is
// still on its way, nor the other way round, and three panels at different stages keep all units busy.
constexpr size_t kDistance = 2;
constexpr size_t kRing = 2 * kDistance;

// What travels through memory between the vector and the matrix registers.
struct Buffers {
  alignas(64) unsigned char levels[kRing][8][64];
  alignas(64) int32_t dots[kRing][2][kGroupTokens][kTileRows];  // [panel, group]
};

template <class Format>
constexpr size_t kDwords = 8 / kPanelGroups<Format>;

template <int kDots, int kTokenBytes, int kLevels>
[[gnu::always_inline]] inline void multiply(const int8_t* tokens, const unsigned char* levels, int32_t* dots) {
  tile_zero<kDots>();
  tile_load<kLevels>(levels, 64);
  tile_load<kTokenBytes>(tokens, kPanelCols);
  tile_multiply<kDots, kTokenBytes, kLevels>();
  tile_store<kDots>(dots, 64);
}

template <class Format>
[[gnu::always_inline]] inline void multiply_panel(const TokenGroup& group, size_t p, Buffers& buffers) {
  const size_t i = p % kRing;
  multiply<0, 4, 6>(group.q8[p][0], buffers.levels[i][0], buffers.dots[i][0][0]);
  if constexpr (kPanelGroups<Format> == 2) multiply<1, 5, 7>(group.q8[p][0] + 16, buffers.levels[i][4], buffers.dots[i][1][0]);
}

template <class Format, size_t kTokens>
[[gnu::always_inline]] inline void add_dots(const TokenGroup& group, size_t p, const Head<S>& head, const unsigned char* block,
                                            size_t panel, const Buffers& buffers, __m512 (&sums)[kTokens]) {
  constexpr size_t kGroups = kPanelGroups<Format>;
  Panel<S, Format> scales;
  read_scales<S>(Format(), head, block, panel, 0, scales);
#pragma GCC unroll 16
  for (size_t t = 0; t < kTokens; ++t) {
    const __m512 scale = _mm512_set1_ps(group.scales[p][t]);
#pragma GCC unroll 2
    for (size_t g = 0; g < kGroups; ++g) {
      __m512i dots = _mm512_load_si512(buffers.dots[p % kRing][g][t]);
      if constexpr (Format::kOffset != 0) {
        dots = _mm512_add_epi32(dots, _mm512_set1_epi32(group.corrections[p][g][t]));
      }
      sums[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), _mm512_mul_ps(scales.scale[g], scale), sums[t]);
    }
    if constexpr (Format::kHasMin) sums[t] = _mm512_fnmadd_ps(scales.min, _mm512_set1_ps(group.totals[p][t]), sums[t]);
  }
}

// One tile x kTokens tokens, of which `count` are there.
template <class Format, size_t kTokens>
[[gnu::noinline]] void tile_amx(const unsigned char* tile, size_t far, size_t cols, const TokenGroup& group, size_t count, size_t from,
                                size_t to, float* out, size_t out_stride) {
  using Layout = Tiled<Format>;
  const unsigned char* const body = tile + tile_front<Format>(cols);
  const size_t panels = cols / kPanelCols;
  const auto block_of = [&](size_t p) { return body + p / Layout::kPanels * Layout::kBlock; };
  const auto head_of = [&](size_t p) { return read_head<S, Format>(tile + p / Layout::kPanels * Layout::kFront, block_of(p), 0); };
  Buffers buffers;
  __m512 sums[kTokens];
#pragma GCC unroll 16
  for (size_t t = 0; t < kTokens; ++t) sums[t] = _mm512_setzero_ps();

  for (size_t step = 0; step < panels + 2 * kDistance; ++step) {
    if (step < panels) {
      constexpr size_t kPanelBytes = Layout::kBlock / Layout::kPanels;
      fetch_ahead<kPanelBytes>(body + step * kPanelBytes, far);
      __m512i levels[8];
      read_levels<S>(Format(), block_of(step), step % Layout::kPanels, 0, levels);
#pragma GCC unroll 8
      for (size_t j = 0; j < 8; ++j) _mm512_store_si512(buffers.levels[step % kRing][j], levels[j]);
    }
    if (step >= kDistance && step - kDistance < panels) multiply_panel<Format>(group, step - kDistance, buffers);
    if (step >= 2 * kDistance) {
      const size_t p = step - 2 * kDistance;
      add_dots<Format, kTokens>(group, p, head_of(p), block_of(p), p % Layout::kPanels, buffers, sums);
    }
  }
#pragma GCC unroll 16
  for (size_t t = 0; t < kTokens; ++t) {
    if (t < count) S::store_rows(out + t * out_stride, sums[t], 0, from, to);
  }
}

template <class Format, size_t kTokens>
void run_group(const unsigned char* weights, size_t cols, size_t first, size_t last, const TokenGroup& group, size_t count, float* out,
               size_t out_stride) {
  const Config config(kTokens, kDwords<Format>);
  tile_configure(&config);
  for_tiles<Format>(weights, cols, first, last, out, [&](const unsigned char* tile, size_t far, size_t from, size_t to, float* y) {
    tile_amx<Format, kTokens>(tile, far, cols, group, count, from, to, y, out_stride);
  });
  tile_release();
}

}  // namespace

template <class Format>
void tiled_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
              size_t tokens, float* out, size_t out_stride) {
  size_t begin = 0;
  while (cols <= kGroupCols && tokens - begin >= kMinTokens<Format>) {
    const size_t count = tokens - begin < kGroupTokens ? tokens - begin : kGroupTokens;
    fill<Format, Format::kOffset>(tokens_of_thread, cols, x, token_index, begin, count, count <= 8 ? 8 : kGroupTokens);
    const auto run = count <= 8 ? run_group<Format, 8> : run_group<Format, kGroupTokens>;
    run(weights, cols, first, last, tokens_of_thread, count, out + begin * out_stride, out_stride);
    begin += count;
  }
  if (begin == tokens) return;
  Activations rest = x;
  if (token_index) {
    token_index += begin;
  } else {
    rest.f32 += begin * x.stride;
    rest.q8 += begin * x.stride;
    rest.scales += begin * x.stride / kQuantBlock;
    rest.sums += begin * x.stride / (kQuantBlock / 2);
    rest.totals += begin * x.stride / kQuantBlock;
  }
  avx512vnni::tiled_q8<Format>(weights, cols, first, last, rest, token_index, tokens - begin, out + begin * out_stride, out_stride);
}

template Matmul tiled_q8<Q8_0>;
template Matmul tiled_q8<Q4_0>;
template Matmul tiled_q8<Q4_K>;
template Matmul tiled_q8<Q5_K>;
template Matmul tiled_q8<Q6_K>;
template Matmul tiled_q8<IQ4_XS>;

}  // namespace teapot::cpu::amx
