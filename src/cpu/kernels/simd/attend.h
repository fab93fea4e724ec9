// Attention of the query heads of one KV head, for the vector tables (contract: kernels.h, attend_block).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/simd/math.h"

namespace teapot::cpu {
namespace {

template <class V>
struct CacheF32 {
  using Element = float;
  static typename V::Type load(const float* p) { return V::load(p); }
  static typename V::Type load_first(const float* p, size_t n) { return V::load_first(p, n); }
};
template <class V>
struct CacheF16 {
  using Element = uint16_t;
  static typename V::Type load(const uint16_t* p) { return V::load_f16(p); }
  static typename V::Type load_first(const uint16_t* p, size_t n) { return V::load_f16_first(p, n); }
};
template <class V>
struct CacheBF16 {
  using Element = uint16_t;
  static typename V::Type load(const uint16_t* p) { return V::load_bf16(p); }
  static typename V::Type load_first(const uint16_t* p, size_t n) { return V::load_bf16_first(p, n); }
};

// Keys and values are asked for so many positions before they are read: other heads lie in between, and the processor's own prefetcher
// gives up at each. Measured on Zen 5, f16, 8 heads, from memory: 7 GB/s a core without, 12 with, 17 with queries in registers as well.
constexpr size_t kAhead = 16;

template <int kHint>
[[gnu::always_inline]] inline void fetch(const void* p, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(p) + i, 0, kHint);
}
constexpr int kIntoL1 = 3, kIntoL2 = 2;

// GCC would make it a memory operand of each product.
template <class Type>
[[gnu::always_inline]] inline Type in_register(Type x) {
  asm("" : "+v"(x));
  return x;
}

// Of kHeads heads at once. Scores stand position after position, kHeads of them side by side: a register holds kPositions positions.
template <class V, class Cache, size_t kHeads>
struct HeadGroup {
  using Type = typename V::Type;
  using Element = typename Cache::Element;
  static constexpr size_t kPositions = V::kLanes / kHeads;
  static constexpr size_t kColumns = kPositions < 8 ? kPositions : 8;  // registers of values that all positions are added to at once
  static constexpr size_t kColumnBytes = kColumns * V::kLanes * sizeof(Element);
  static constexpr float kNothing = -__builtin_inff();

  // Scores of all positions, filled up to whole registers with ones that weigh nothing; the largest of each head in every kHeads-th lane.
  static Type score(const AttendBlock& block, const float* q, float* scores) {
    auto largest = V::set(kNothing);
    for (size_t p = 0; p < block.count; p += kPositions) {
      const Element* keys[kPositions];
#pragma GCC unroll 16
      for (size_t i = 0; i < kPositions; ++i) {
        const size_t position = p + i < block.count ? p + i : block.count - 1;
        keys[i] = static_cast<const Element*>(block.keys) + position * block.kv_stride;
        if (position + kAhead < block.count) fetch<kIntoL1>(keys[i] + kAhead * block.kv_stride, block.head_dim * sizeof(Element));
        fetch<kIntoL2>(static_cast<const Element*>(block.values) + position * block.kv_stride, kColumnBytes);
      }
      Type dots[V::kLanes];
#pragma GCC unroll 16
      for (size_t i = 0; i < V::kLanes; ++i) dots[i] = V::zero();
      size_t d = 0;
      for (; d + V::kLanes <= block.head_dim; d += V::kLanes) {
        multiply(
            block, q + d, keys, dots, [&](const float* x) { return V::load(x); }, [&](const Element* k) { return Cache::load(k + d); });
      }
      if (const size_t rest = block.head_dim - d; rest > 0) {
        multiply(
            block, q + d, keys, dots, [&](const float* x) { return V::load_first(x, rest); },
            [&](const Element* k) { return Cache::load_first(k + d, rest); });
      }
      V::store(scores + p * kHeads, V::mul(V::sums(dots), V::set(block.scale)));
      for (size_t i = block.count - p; i < kPositions; ++i) {
        for (size_t h = 0; h < kHeads; ++h) scores[(p + i) * kHeads + h] = kNothing;
      }
      largest = V::max(largest, V::load(scores + p * kHeads));
    }
    return largest;
  }

  template <class LoadQ, class LoadK>
  [[gnu::always_inline]] static inline void multiply(const AttendBlock& block, const float* q, const Element* const* keys, Type* dots,
                                                     LoadQ load_q, LoadK load_k) {
    Type key[kPositions];
#pragma GCC unroll 16
    for (size_t i = 0; i < kPositions; ++i) key[i] = load_k(keys[i]);
#pragma GCC unroll 8
    for (size_t h = 0; h < kHeads; ++h) {
      const Type query = in_register(load_q(q + h * block.head_dim));
#pragma GCC unroll 16
      for (size_t i = 0; i < kPositions; ++i) dots[i * kHeads + h] = V::fma(query, key[i], dots[i * kHeads + h]);
    }
  }

  // kWide registers of values from column d: kept over all positions. The next ones are asked for meanwhile.
  template <size_t kWide, class Load>
  [[gnu::always_inline]] static inline void weigh(const AttendBlock& block, const float* weights, size_t d, Load load,
                                                  Type (&sums)[kHeads][kWide]) {
#pragma GCC unroll 8
    for (size_t h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
      for (size_t c = 0; c < kWide; ++c) sums[h][c] = V::zero();
    }
    const Element* value = static_cast<const Element*>(block.values) + d;
    for (size_t p = 0; p < block.count; ++p, value += block.kv_stride) {
      // All positions' lines of one column fall into a few sets of an L1: it has room for the nearest ones.
      if (p + kAhead < block.count) fetch<kIntoL1>(value + kAhead * block.kv_stride, kWide * V::kLanes * sizeof(Element));
      if (d + kWide * V::kLanes < block.head_dim) fetch<kIntoL2>(value + kWide * V::kLanes, kColumnBytes);
      Type columns[kWide];
#pragma GCC unroll 16
      for (size_t c = 0; c < kWide; ++c) columns[c] = load(value + c * V::kLanes);
#pragma GCC unroll 8
      for (size_t h = 0; h < kHeads; ++h) {
        const Type weight = V::set(weights[p * kHeads + h]);
#pragma GCC unroll 16
        for (size_t c = 0; c < kWide; ++c) sums[h][c] = V::fma(weight, columns[c], sums[h][c]);
      }
    }
  }

  static void run(const AttendBlock& block, const float* q, float* max, float* sum, float* out) {
    float* const scores = block.scratch;
    float lanes[V::kLanes];
    V::store(lanes, score(block, q, scores));
    float base[V::kLanes];
    for (size_t h = 0; h < kHeads; ++h) {
      max[h] = lanes[h];
      for (size_t i = 1; i < kPositions; ++i) max[h] = lanes[i * kHeads + h] > max[h] ? lanes[i * kHeads + h] : max[h];
      // Scores of -inf only: e^(score - max) would be NaN, the block weighs nothing.
      for (size_t i = 0; i < kPositions; ++i) base[i * kHeads + h] = max[h] == kNothing ? 0.0f : max[h];
    }
    const auto bases = V::load(base);
    auto total = V::zero();
    for (size_t p = 0; p < block.count; p += kPositions) {
      const auto weight = exp_of<V>(V::sub(V::load(scores + p * kHeads), bases));
      V::store(scores + p * kHeads, weight);
      total = V::add(total, weight);
    }
    V::store(lanes, total);
    for (size_t h = 0; h < kHeads; ++h) {
      sum[h] = 0;
      for (size_t i = 0; i < kPositions; ++i) sum[h] += lanes[i * kHeads + h];
    }

    size_t d = 0;
    for (; d + kColumns * V::kLanes <= block.head_dim; d += kColumns * V::kLanes) {
      Type sums[kHeads][kColumns];
      weigh<kColumns>(block, scores, d, [](const Element* v) { return Cache::load(v); }, sums);
      for (size_t h = 0; h < kHeads; ++h) {
        for (size_t c = 0; c < kColumns; ++c) V::store(out + h * block.head_dim + d + c * V::kLanes, sums[h][c]);
      }
    }
    for (; d < block.head_dim; d += V::kLanes) {
      const size_t lanes_left = block.head_dim - d < V::kLanes ? block.head_dim - d : V::kLanes;
      Type sums[kHeads][1];
      weigh<1>(block, scores, d, [&](const Element* v) { return Cache::load_first(v, lanes_left); }, sums);
      for (size_t h = 0; h < kHeads; ++h) V::store_first(out + h * block.head_dim + d, lanes_left, sums[h][0]);
    }
  }
};

template <class V, class Cache>
void attend_block_of(const AttendBlock& block, const AttendPart& part) {
  static_assert(kAttendHeads <= V::kLanes);
  size_t h = 0;
  const auto run = [&]<size_t kHeads>() {
    for (; h + kHeads <= block.heads; h += kHeads) {
      const size_t at = h * block.head_dim;
      HeadGroup<V, Cache, kHeads>::run(block, block.q + at, part.max + h, part.sum + h, part.out + at);
    }
  };
  if constexpr (V::kLanes >= 16) run.template operator()<8>();
  run.template operator()<4>();
  run.template operator()<2>();
  run.template operator()<1>();
}

template <class V>
float exp_of_scalar(float x) {
  float result[V::kLanes];
  V::store(result, exp_of<V>(V::set(x)));
  return result[0];
}

template <class V>
void attend_join_of(const float* part, float part_max, float part_sum, size_t head_dim, float* out, float* max, float* sum) {
  const float new_max = part_max > *max ? part_max : *max;
  const float keep = *max == new_max ? 1.0f : exp_of_scalar<V>(*max - new_max);
  const float take = part_max == new_max ? 1.0f : exp_of_scalar<V>(part_max - new_max);
  *sum = *sum * keep + part_sum * take;
  for (size_t i = 0; i < head_dim; ++i) out[i] = out[i] * keep + part[i] * take;
  *max = new_max;
}

}  // namespace
}  // namespace teapot::cpu
