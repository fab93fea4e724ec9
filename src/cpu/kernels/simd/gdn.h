// The recurrence of one head, for the vector tables (contract: kernels.h, gdn_head).
//
// A column of the state depends on no other column: a strip of 32 columns x dk rows (16 KiB for dk = 128) stays in L1 for both passes of
// a token and for all tokens of the run, and no sum goes across lanes, so that the order over rows is that of the formula.
#pragma once

#include <stddef.h>

#include "cpu/kernels/kernels.h"

namespace teapot::cpu {
namespace {

// What becomes of a strip after a token.
enum class Strip {
  kState,   // it is the state's, and changed in place
  kCopied,  // the state stays as it is: to scratch
  kDropped  // the same, and nobody will read it
};

// The strip's rows lie from_stride apart; in place `to` is `from`.
template <class V, size_t kColumns, bool kPartial, Strip kStrip>
[[gnu::always_inline]] inline void gdn_token(const GdnHead& head, size_t t, size_t column, size_t lanes, const float* from,
                                             size_t from_stride, float* to, size_t to_stride, float* out) {
  using Type = typename V::Type;
  const auto load = [&](const float* p) { return kPartial ? V::load_first(p, lanes) : V::load(p); };
  const auto store = [&](float* p, Type x) { kPartial ? V::store_first(p, lanes, x) : V::store(p, x); };
  // Of the next head's state a line with each row of a pass: all of it by the end of the last token.
  const bool fetch = head.next != nullptr && t + 1 == head.tokens;
  const char* line =
      fetch ? reinterpret_cast<const char*>(head.next) + column / kGdnStrip * 2 * head.dk * 64 : reinterpret_cast<const char*>(from);
  const size_t line_step = fetch ? 64 : 0;
  const float* q = head.q + t * head.q_stride;
  const float* k = head.k + t * head.k_stride;
  const float* v = head.v + t * head.v_stride + column;
  const Type alpha = V::set(head.alpha[t * head.gate_stride]), beta = V::set(head.beta[t * head.gate_stride]);
  Type predicted[kColumns], delta[kColumns], read[kColumns];
  for (size_t c = 0; c < kColumns; ++c) predicted[c] = V::zero();
  for (size_t i = 0; i < head.dk; ++i) {
    __builtin_prefetch(line + i * line_step, 0, 2);  // to L2
    const Type key = V::set(k[i]);
#pragma GCC unroll 4
    for (size_t c = 0; c < kColumns; ++c) {
      predicted[c] = V::fma(V::mul(load(from + i * from_stride + c * V::kLanes), alpha), key, predicted[c]);
    }
  }
  for (size_t c = 0; c < kColumns; ++c) {
    delta[c] = V::mul(beta, V::sub(load(v + c * V::kLanes), predicted[c]));
    if constexpr (kStrip != Strip::kState) store(head.delta + t * head.delta_stride + column + c * V::kLanes, delta[c]);
    read[c] = V::zero();
  }
  // The decay once more, instead of a store and a load of the decayed state.
  for (size_t i = 0; i < head.dk; ++i) {
    __builtin_prefetch(line + (head.dk + i) * line_step, 0, 2);
    const Type key = V::set(k[i]), query = V::set(q[i]);
#pragma GCC unroll 4
    for (size_t c = 0; c < kColumns; ++c) {
      const Type updated = V::fma(key, delta[c], V::mul(load(from + i * from_stride + c * V::kLanes), alpha));
      if constexpr (kStrip != Strip::kDropped) store(to + i * to_stride + c * V::kLanes, updated);
      read[c] = V::fma(updated, query, read[c]);
    }
  }
  for (size_t c = 0; c < kColumns; ++c) store(out + t * head.out_stride + column + c * V::kLanes, read[c]);
}

// All tokens of the log, row by row of the strip: it is read and written once. copy: the strip as well, rows kGdnStrip apart, or null. In
// the state its rows lie so that L1 cannot hold all of them.
template <class V, size_t kColumns, bool kPartial>
void gdn_replay(const GdnLog& log, size_t dk, size_t column, size_t lanes, float* strip, size_t stride, float* copy) {
  using Type = typename V::Type;
  const auto load = [&](const float* p) { return kPartial ? V::load_first(p, lanes) : V::load(p); };
  const auto store = [&](float* p, Type x) { kPartial ? V::store_first(p, lanes, x) : V::store(p, x); };
  for (size_t i = 0; i < dk; ++i) {
    float* const s = strip + i * stride;
    Type moved[kColumns];
#pragma GCC unroll 4
    for (size_t c = 0; c < kColumns; ++c) moved[c] = load(s + c * V::kLanes);
    for (size_t t = 0; t < log.tokens; ++t) {
      const Type key = V::set(log.k[t * log.stride + i]), alpha = V::set(log.alpha[t * log.stride]);
      const float* const delta = log.delta + t * log.stride + column;
#pragma GCC unroll 4
      for (size_t c = 0; c < kColumns; ++c) moved[c] = V::fma(key, load(delta + c * V::kLanes), V::mul(moved[c], alpha));
    }
#pragma GCC unroll 4
    for (size_t c = 0; c < kColumns; ++c) {
      store(s + c * V::kLanes, moved[c]);
      if (copy != nullptr) store(copy + i * kGdnStrip + c * V::kLanes, moved[c]);
    }
  }
}

template <class V, size_t kColumns, bool kPartial>
void gdn_columns(const GdnHead& head, size_t column, size_t lanes, float* state, float* out) {
  float* const strip = state + column;
  const bool replays = head.pending.tokens > 0, verifies = head.delta != nullptr;
  if (replays) {
    const uint64_t began = __builtin_ia32_rdtsc();
    gdn_replay<V, kColumns, kPartial>(head.pending, head.dk, column, lanes, strip, head.dv, verifies ? head.strip : nullptr);
    if (head.replay_ticks != nullptr) *head.replay_ticks += __builtin_ia32_rdtsc() - began;
  }
  if (!verifies) {
    for (size_t t = 0; t < head.tokens; ++t) {
      gdn_token<V, kColumns, kPartial, Strip::kState>(head, t, column, lanes, strip, head.dv, strip, head.dv, out);
    }
    return;
  }
  const float* from = replays ? head.strip : strip;
  size_t stride = replays ? kGdnStrip : head.dv;
  for (size_t t = 0; t + 1 < head.tokens; ++t) {
    gdn_token<V, kColumns, kPartial, Strip::kCopied>(head, t, column, lanes, from, stride, head.strip, kGdnStrip, out);
    from = head.strip;
    stride = kGdnStrip;
  }
  gdn_token<V, kColumns, kPartial, Strip::kDropped>(head, head.tokens - 1, column, lanes, from, stride, nullptr, 0, out);
}

template <class V>
void gdn_head_of(const GdnHead& head, float* state, float* out) {
  constexpr size_t kColumns = kGdnStrip / V::kLanes;
  size_t j = 0;
  for (; j + kGdnStrip <= head.dv; j += kGdnStrip) gdn_columns<V, kColumns, false>(head, j, V::kLanes, state, out);
  for (; j + V::kLanes <= head.dv; j += V::kLanes) gdn_columns<V, 1, false>(head, j, V::kLanes, state, out);
  if (j < head.dv) gdn_columns<V, 1, true>(head, j, head.dv - j, state, out);
}

}  // namespace
}  // namespace teapot::cpu
