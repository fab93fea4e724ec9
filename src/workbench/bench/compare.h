// Two servers, one truth: pairs of turns until the ratio of their times is known.
//
// A pair is the same prompts on both servers, back to back, at each number of users in turn; whose turn comes first is drawn, balanced in
// blocks of four pairs. d = ln(B / A) of the mean TPOT of a turn; the decision is about the mean of d over the numbers of users (a
// geometric mean of ratios), tested after each pair (pairs/e_process.h). Before that, and once in twenty pairs, A runs against A through
// the same code: that names the noise, and a difference found there ends the run.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "workbench/bench/pair_record.h"
#include "workbench/pairs/ratio_figures.h"

namespace teapot::workbench {

struct CompareOptions {
  std::vector<uint32_t> parallel = {1};     // users of each load
  uint32_t pairs = 60;                      // of A and B, at most
  uint32_t aa_pairs = 6;                    // of A and A before them; 0: none, and no further ones
  double alpha = 0.05;                      // chance that equal servers are called different, and of a sequence not to hold
  double min_difference = 0.01;             // share of TPOT below which servers are as good as equal
  std::optional<double> target_ratio = {};  // a gate on B / A
  bool all_pairs = false;                   // no end before `pairs`: the estimate is then without the exaggeration of an early end
  uint64_t seed = 0;                        // of the order
};

// kInvalid, naming the option.
Status check(const CompareOptions& options);

struct TimeFigures {
  RatioFigures tpot, ttft;
};

enum class Verdict : uint8_t {
  kUndecided,
  kBetter,        // E >= 1/alpha, and B's TPOT is lower
  kWorse,         // E >= 1/alpha, and it is higher
  kNoDifference,  // the whole sequence lies within +- min_difference
};
inline constexpr std::array<std::string_view, 4> kVerdictNames = {"undecided", "better", "worse", "no difference"};

enum class CompareEnd : uint8_t {
  kRunning,
  kDecided,      // by the verdict or, with a target, by the gate
  kUsedUp,       // all pairs were measured
  kNullDiffers,  // A against A: something else than the servers makes the difference
  kFaults,       // too many pairs with requests that failed
  kInterrupted,
};

struct Gate {
  double target = 0;
  bool passed = false;    // the sequence's upper limit of B / A is at most the target
  bool excluded = false;  // its lower limit is above the target
};

struct Comparison {
  CompareEnd end = CompareEnd::kRunning;
  Verdict verdict = Verdict::kUndecided;
  std::optional<Gate> gate;
  TimeFigures mean;                // over the loads, of valid pairs of A and B
  std::vector<TimeFigures> loads;  // [parallel]
  TimeFigures null;                // A against A, over the loads
  // Of TPOT, as a share: what `pairs` find or exclude about as often as not, given the noise of A against A; nothing without two such
  // pairs.
  std::optional<double> smallest_difference;
  uint32_t faulty = 0;
  std::string first_fault;
  ReplyDifference replies, null_replies;
  uint64_t a_cached_tokens = 0, b_cached_tokens = 0;  // in pairs of A and B
  std::vector<double> read_gbs;
  std::vector<std::string> warnings;

  // Whether there is an answer: no fault ended the run, and nobody.
  bool sound() const { return end == CompareEnd::kDecided || end == CompareEnd::kUsedUp; }
};

// What these pairs say, and whether they suffice.
Comparison analyse(const CompareOptions& options, std::span<const PairRecord> pairs);

struct Turn {
  bool null = false;  // a pair of A with itself
  bool b = false;     // B's turn (in a pair of A with itself: the turn that stands for it)
  uint32_t load = 0;  // of CompareOptions::parallel
  uint32_t pair = 0;  // number in the run
};

struct CompareHooks {
  // Sends the turn's requests. Failed requests are figures; an error is what ends the run.
  std::function<Result<TurnFigures>(const Turn& turn)> run;
  std::function<Result<double>()> read_gbs;  // empty: no server on this host
  CommonTokens common_tokens;                // empty: no tokenizer
  std::function<Status(const PairRecord& pair)> keep;
  std::function<void(const Comparison& so_far)> progress;  // after each pair
  const std::atomic<bool>* stop = nullptr;                 // set: the pair that runs is not finished and not kept
};

// Goes on behind `pairs` (of an earlier run) and appends to it.
Result<Comparison> run_compare(const CompareOptions& options, const CompareHooks& hooks, std::vector<PairRecord>& pairs);

}  // namespace teapot::workbench
