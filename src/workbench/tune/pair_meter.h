// The pairs of a search: each is measured in drawn order, counted against the budget, and kept for charts; A runs against A now and then.
#pragma once

#include <string>
#include <vector>

#include "workbench/tune/load_replies.h"
#include "workbench/tune/search.h"

namespace teapot::workbench {

inline constexpr uint32_t kNullPairs = 6;      // A against A before all others
inline constexpr uint32_t kConfirmPairs = 16;  // of the confirmation
inline constexpr double kNullAlpha = 0.05;     // chance that A is called different from itself

class PairMeter {
 public:
  // All must outlive it.
  PairMeter(const SearchOptions& options, Trials& trials, const SearchEvents& events, SearchResult& result)
      : options_(options), trials_(trials), events_(events), result_(result), replies_(options.parallel) {}

  // What A runs against A with, and what points say of the incumbent.
  void set_incumbent(const KnobProfile& profile, uint32_t moves) { incumbent_ = profile, moves_ = moves; }
  // So many stay for later.
  void set_reserve(uint32_t pairs) { reserve_ = pairs; }
  // That may be spent now.
  uint32_t left() const;

  // A sequence of pairs with an order of its own.
  struct Series {
    PairKind kind;
    std::string what;
    KnobProfile a, b;
    uint32_t number;    // which series of the search
    uint32_t pair = 0;  // that comes next
  };
  Series series(PairKind kind, std::string what, KnobProfile a, KnobProfile b) {
    return {.kind = kind, .what = std::move(what), .a = std::move(a), .b = std::move(b), .number = series_++};
  }

  // The next pair, with A against A before it where that is due. A's faults are tried again; B's are in the outcome. An error where the
  // search is over: ended() says whether by a verdict (result.end has it) or not.
  Result<PairOutcome> measure(Series& series);
  // The first A against A.
  Status measure_null(uint32_t pairs);
  // Of B's replies under load; empty: they are A's, or nobody can tell.
  std::string text_difference(const PairOutcome& outcome) const { return replies_.difference(outcome); }
  // Writes end and reason; the error that leads out of the search.
  std::unexpected<Error> end(SearchEnd how, std::string reason);
  bool ended() const { return ended_; }
  Objective objective() const { return options_.objective; }

  // For the progress line.
  void show(const std::string& now) const;

 private:
  Result<PairOutcome> measure_once(const Series& series, bool b_first);
  Status null_pair();
  void keep(const Series& series, const PairOutcome& outcome);

  const SearchOptions& options_;
  Trials& trials_;
  const SearchEvents& events_;
  SearchResult& result_;
  LoadReplies replies_;
  KnobProfile incumbent_;
  uint32_t moves_ = 0, reserve_ = kConfirmPairs, series_ = 1, prompts_ = 0;
  uint32_t since_null_ = 0, null_pairs_ = 0, confirm_prompts_ = 0;
  std::vector<double> null_differences_;
  bool ended_ = false;
};

// The objective's d = ln(B / A) of whole arms.
double difference_of(Objective objective, const PairOutcome& outcome);

}  // namespace teapot::workbench
