// The recurrence of one head, for the vector tables (contract: kernels.h, gdn_head).
//
// A column of the state depends on no other column: 32 columns x dk rows (16 KiB for dk = 128) stay in L1 for both passes of a token and
// for all tokens of the run, and no sum goes across lanes, so that the order over rows is that of the formula.
#pragma once

#include <stddef.h>

#include "cpu/kernels/kernels.h"

namespace teapot::cpu {
namespace {

template <class V, size_t kColumns, bool kPartial>
void gdn_columns(const GdnHead& head, size_t column, size_t lanes, float* state, float* out) {
  using Type = typename V::Type;
  const auto load = [&](const float* p) { return kPartial ? V::load_first(p, lanes) : V::load(p); };
  const auto store = [&](float* p, Type x) { kPartial ? V::store_first(p, lanes, x) : V::store(p, x); };
  // Of the next head's state a line with each row of a pass: all of it by the end of the last token.
  const auto* const lines = reinterpret_cast<const char*>(head.next) + column / 32 * 2 * head.dk * 64;
  for (size_t t = 0; t < head.tokens; ++t) {
    const bool fetch = head.next != nullptr && t + 1 == head.tokens;
    const char* line = fetch ? lines : reinterpret_cast<const char*>(state);
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
        predicted[c] = V::fma(V::mul(load(state + i * head.dv + column + c * V::kLanes), alpha), key, predicted[c]);
      }
    }
    for (size_t c = 0; c < kColumns; ++c) {
      delta[c] = V::mul(beta, V::sub(load(v + c * V::kLanes), predicted[c]));
      read[c] = V::zero();
    }
    // The decay once more, instead of a store and a load of the decayed state.
    for (size_t i = 0; i < head.dk; ++i) {
      __builtin_prefetch(line + (head.dk + i) * line_step, 0, 2);
      const Type key = V::set(k[i]), query = V::set(q[i]);
#pragma GCC unroll 4
      for (size_t c = 0; c < kColumns; ++c) {
        float* const s = state + i * head.dv + column + c * V::kLanes;
        const Type updated = V::fma(key, delta[c], V::mul(load(s), alpha));
        store(s, updated);
        read[c] = V::fma(updated, query, read[c]);
      }
    }
    for (size_t c = 0; c < kColumns; ++c) store(out + t * head.out_stride + column + c * V::kLanes, read[c]);
  }
}

template <class V>
void gdn_head_of(const GdnHead& head, float* state, float* out) {
  constexpr size_t kColumns = 32 / V::kLanes;
  size_t j = 0;
  for (; j + 32 <= head.dv; j += 32) gdn_columns<V, kColumns, false>(head, j, V::kLanes, state, out);
  for (; j + V::kLanes <= head.dv; j += V::kLanes) gdn_columns<V, 1, false>(head, j, V::kLanes, state, out);
  if (j < head.dv) gdn_columns<V, 1, true>(head, j, head.dv - j, state, out);
}

}  // namespace
}  // namespace teapot::cpu
