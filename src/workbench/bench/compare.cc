#include "workbench/bench/compare.h"

#include <algorithm>
#include <cmath>

#include "workbench/bench/host_facts.h"
#include "workbench/pairs/pair_order.h"

namespace teapot::workbench {
namespace {

constexpr uint32_t kPairsPerNullPair = 20;  // A against A once in so many pairs, after the first ones

bool stopped(const CompareHooks& hooks) { return hooks.stop != nullptr && *hooks.stop; }

struct Next {
  bool null;
  uint32_t ordinal;  // among the pairs of its kind, those with faults included
};

Next next_pair(const CompareOptions& options, std::span<const PairRecord> pairs) {
  uint32_t valid_null = 0, valid = 0, of_null = 0;
  for (const PairRecord& pair : pairs) {
    if (pair.null) ++of_null;
    if (pair.valid()) ++(pair.null ? valid_null : valid);
  }
  const uint32_t wanted = options.aa_pairs == 0 ? 0 : options.aa_pairs + valid / kPairsPerNullPair;
  if (valid_null < wanted) return {true, of_null};
  return {false, static_cast<uint32_t>(pairs.size()) - of_null};
}

// Whether the turn's figures can be compared; else why not.
std::string fault_of(const Turn& turn, uint32_t parallel, const TurnFigures& figures) {
  const char* server = turn.b && !turn.null ? "B" : "A";
  if (figures.failed > 0) {
    return fmt::format("{} with {} users: {} of {} requests failed: {}", server, parallel, figures.failed, figures.requests, figures.fault);
  }
  if (figures.tpot_ms > 0 && figures.ttft_ms > 0) return "";
  return fmt::format("{} with {} users: {}, so no time per token", server, parallel, figures.untimed);
}

// Both turns at each load, until a fault or a stop.
Status measure(const CompareOptions& options, const CompareHooks& hooks, PairRecord& pair) {
  for (uint32_t load = 0; load < options.parallel.size() && pair.valid(); ++load) {
    LoadPair both;
    both.parallel = options.parallel[load];
    for (const bool b : {pair.b_first, !pair.b_first}) {
      const Turn turn{.null = pair.null, .b = b, .load = load, .pair = pair.number};
      TurnFigures& figures = b ? both.b : both.a;
      TEAPOT_TRY(figures, hooks.run(turn));
      if (stopped(hooks)) return {};
      pair.fault = fault_of(turn, both.parallel, figures);
      if (!pair.valid()) break;
    }
    if (pair.valid()) both.replies = compare_replies(both.a.replies, both.b.replies, hooks.common_tokens);
    both.a.replies.clear(), both.b.replies.clear();
    pair.loads.push_back(std::move(both));
  }
  return {};
}

}  // namespace

Status check(const CompareOptions& options) {
  if (options.parallel.empty() || std::ranges::count(options.parallel, 0u) > 0) {
    return fail(ErrorKind::kInvalid, "--parallel: {}; expected numbers of users from 1", fmt::join(options.parallel, " "));
  }
  if (options.pairs == 0) return fail(ErrorKind::kInvalid, "--pairs: 0; expected at least 1");
  if (!(options.alpha > 0 && options.alpha < 1)) {
    return fail(ErrorKind::kInvalid, "--alpha: {}; expected a chance between 0 and 1", options.alpha);
  }
  if (!(options.min_difference > 0 && options.min_difference < 1)) {
    return fail(ErrorKind::kInvalid, "--min-difference: {}; expected a share between 0 and 1, or a percentage", options.min_difference);
  }
  if (options.target_ratio && !(*options.target_ratio > 0 && std::isfinite(*options.target_ratio))) {
    return fail(ErrorKind::kInvalid, "--target-ratio: {}; expected a ratio above 0", *options.target_ratio);
  }
  return {};
}

Result<Comparison> run_compare(const CompareOptions& options, const CompareHooks& hooks, std::vector<PairRecord>& pairs) {
  TEAPOT_CHECK(check(options));
  for (;;) {
    Comparison so_far = analyse(options, pairs);
    if (hooks.progress) hooks.progress(so_far);
    if (so_far.end != CompareEnd::kRunning) return so_far;
    PairRecord pair;
    const Next next = next_pair(options, pairs);
    pair.number = static_cast<uint32_t>(pairs.size());
    pair.null = next.null;
    pair.b_first = b_goes_first(next.null ? ~options.seed : options.seed, next.ordinal);
    if (hooks.read_gbs && pair.number % kOrderBlock == 0 && !stopped(hooks)) {
      TEAPOT_TRY(pair.read_gbs, hooks.read_gbs());
    }
    if (!stopped(hooks)) {
      TEAPOT_CHECK(measure(options, hooks, pair));
    }
    if (stopped(hooks)) {
      so_far.end = CompareEnd::kInterrupted;
      return so_far;
    }
    pair.at = utc_now();
    if (hooks.keep) {
      TEAPOT_CHECK(hooks.keep(pair));
    }
    pairs.push_back(std::move(pair));
  }
}

}  // namespace teapot::workbench
