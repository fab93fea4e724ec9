// The course of one search (search.h), in three parts: the ladder (search.cc), one move's start and race (search_race.cc), and the passes
// after the ladder (search_passes.cc).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workbench/pairs/race.h"
#include "workbench/tune/pair_meter.h"
#include "workbench/tune/prune.h"
#include "workbench/tune/search.h"
#include "workbench/tune/starts.h"
#include "workbench/tune/walk.h"

namespace teapot::workbench {

// When a move was tried.
inline constexpr std::string_view kLadder = "ladder", kNeighbour = "neighbour", kSecondPass = "second pass", kSettled = "settled";

inline constexpr const char* kUsedUp = "the budget is used up";

inline constexpr uint32_t kScreenAfter = 3;     // pairs
inline constexpr double kScreenAbove = -0.003;  // in d; smaller gains are not looked for, either

// A knob's value, with all that it takes to get there from the incumbent.
struct Move {
  const Knob* knob = nullptr;
  KnobValue value;
  KnobProfile target;
  std::vector<Assignment> with;

  std::string name() const { return name_of(knob->name, value, with); }
};

class Search {
 public:
  Search(const Catalogue& catalogue, const SearchOptions& options, Trials& trials, const SearchEvents& events)
      : catalogue_(catalogue),
        options_(options),
        events_(events),
        trials_(trials),
        starts_(trials),
        meter_(options, trials, events, result_) {}

  Result<SearchResult> run() {
    Status status = climb();
    const bool done = result_.end == SearchEnd::kDone;
    result_.winner = result_.confirmed() != nullptr ? result_.confirmed()->profile : base_;
    if (!done || result_.winner != incumbent_) result_.simplest = result_.winner;
    if (!done && incumbent_ != base_) result_.unconfirmed = incumbent_;
    if (result_.smallest_gain) result_.smallest_gain = result_.null.sd * gain_by_sd_;  // by all of A against A
    result_.elapsed_s = trials_.elapsed_s();
    if (!status && !meter_.ended()) {
      if (!trials_.over()) return std::unexpected(std::move(status).error());
      result_.end = SearchEnd::kInterrupted;
      result_.end_reason = status.error().message;
    }
    return std::move(result_);
  }

 private:
  void note(const std::string& text) const {
    if (events_.note) events_.note(text);
  }

  Status climb();
  Status begin();
  Status look_at_base();
  // A start that failed in an earlier session is tried again.
  Result<Validation> start_base();
  Status ladder();
  Status try_knob(const Knob& knob);
  Status race_best_of(const Knob& knob, const std::vector<Move>& moves);
  // On the ladder. Returns its verdict.
  Result<MoveState> race_value(const Knob& knob, const KnobValue& value);
  Status second_pass();
  Status try_neighbours();
  Status settle();

  std::optional<Move> move_to(const Knob& knob, const KnobValue& value, std::string_view phase);
  // Whether a start shows nothing against the move. Its verdict is in the result otherwise.
  Result<bool> starts_well(const Move& move, std::string_view phase);
  RaceRules rules(std::string_view phase) const;
  Result<MoveVerdict> race(const Move& move, std::string_view phase);
  // The adopted move whose value this one would replace; null: none.
  const Adopted* replaced_by(const Move& move) const;
  bool clearly_slower(const Effect& effect) const;
  bool means_the_same(const KnobProfile& one, const KnobProfile& other) const;
  MoveState guarded(const Walk& walk, const Move& move, bool more, std::string& reason) const;
  void take(const Move& move, MoveVerdict verdict);
  MoveVerdict verdict_of(const Move& move, std::string_view phase, MoveState state, std::string reason = "") const;
  void add(MoveVerdict verdict);

  const Catalogue& catalogue_;
  const SearchOptions& options_;
  const SearchEvents& events_;
  Trials& trials_;
  SearchResult result_;
  Starts starts_;
  PairMeter meter_;
  std::vector<const Knob*> ladder_;
  KnobProfile base_, incumbent_;
  std::vector<Adopted> adopted_;
  std::set<std::pair<KnobProfile, KnobProfile>> raced_;
  double min_difference_ = 0;
  double gain_by_sd_ = 0;  // the smallest gain that can be found, in standard deviations of a pair
};

}  // namespace teapot::workbench
