// Which of many settings make a server faster, found in few pairs of starts (experiments.md, section 2): knob by knob, each value in a
// sequential race against the best that is known, together with what it needs; then what looked like nothing once more beside what was
// adopted; then what is no longer needed; then a confirmation on fresh prompts, whose figure is the only one that is claimed.
//
// The search is a function of its options and of the trials' answers: a ledger of these answers, played again, gives the same verdicts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "workbench/pairs/paired_figures.h"
#include "workbench/tune/catalogue.h"
#include "workbench/tune/joint_move.h"
#include "workbench/tune/step_values.h"
#include "workbench/tune/trials.h"

namespace teapot::workbench {

enum class Objective : uint8_t { kTpot, kTtft, kMix };  // kMix: the mean of both logarithms
inline constexpr std::array<std::string_view, 3> kObjectiveNames = {"tpot", "ttft", "mix"};

// So many pairs, or so many seconds; one of them.
struct Budget {
  uint32_t pairs = 0;
  double seconds = 0;
};

struct SearchOptions {
  std::vector<std::string> knobs;  // empty: those of rank 1 to 4
  KnobProfile base;                // where it starts, and what the confirmation compares with
  Budget budget;
  std::vector<uint32_t> parallel = {1, 4, 8};
  Objective objective = Objective::kTpot;
  double max_ttft_harm = 0.05;            // as a share
  TextRisk allow_text = TextRisk::kSame;  // the riskiest knobs that may change greedy replies
  double coarsest_resolution = 0.05;      // refuse to begin where only larger gains could be found
  uint64_t seed = 0;
  HostValues host;
};

enum class MoveState : uint8_t {
  kWin,
  kLose,
  kNull,          // a gain that matters is excluded
  kNotInForce,    // the same, and nothing shows that it was in force
  kInconclusive,  // the races' cap or the budget ended it
  kScreened,      // the first pairs didn't look like a gain
  kInert,         // it did not take effect
  kBrokenStart,
  kBrokenHang,
  kBrokenCrash,
  kBrokenRequests,  // it lives, but requests fail
  kBrokenText,
  kRefused,  // reason
};
inline constexpr std::array<std::string_view, 13> kMoveStateNames = {"win",
                                                                     "lose",
                                                                     "null",
                                                                     "null, not confirmed in force",
                                                                     "inconclusive",
                                                                     "screened",
                                                                     "inert",
                                                                     "broken (start)",
                                                                     "broken (hang)",
                                                                     "broken (crash)",
                                                                     "broken (requests)",
                                                                     "broken (text)",
                                                                     "refused"};

// Or inert: either way no configuration to measure.
constexpr bool is_broken(MoveState state) { return state >= MoveState::kInert && state <= MoveState::kBrokenText; }

// ln(B / A) over some pairs.
struct Effect {
  uint32_t pairs = 0;
  double mean = 0;
  double half_width = 0;      // of the 90 % confidence sequence; infinite: too few pairs
  double ln_e = 0, lag1 = 0;  // evidence against "no difference"; correlation of neighbours
  std::vector<double> loads;  // [parallel] means of TPOT
  double ttft = 0;            // mean

  double percent() const;
  double low_percent() const;  // -100 and infinity: too few pairs
  double high_percent() const;
};

struct MoveVerdict {
  std::string knob;
  KnobValue value;
  std::vector<Assignment> with;  // what moved along
  std::string phase;             // "ladder", "second pass", "neighbour", "settled"
  MoveState state = MoveState::kInconclusive;
  std::string reason;  // in words, where there is more to say
  Effect effect;
  std::optional<Evidence> evidence;  // of the knob itself
  bool adopted = false;
};

struct PruneVerdict {
  std::string knob;
  KnobValue value;
  MoveState state = MoveState::kInconclusive;  // of the winner against the simplest so far without it: kWin keeps it
  Effect effect;
  std::string reason;
};

// Student's t over a number of pairs that was fixed beforehand: ln(profile / base), half_width at `level`.
struct Confirmation {
  KnobProfile profile;
  size_t moves = 0;                  // adopted ones in it
  PairedFigures pairs;               // of the objective
  std::vector<PairedFigures> loads;  // [parallel] of TPOT
  PairedFigures ttft;
  double level = 0.95;
  std::string harm;  // in words: a limit that is clearly passed, or other text. Empty: none

  bool confirmed() const { return pairs.pairs > 0 && pairs.mean + pairs.half_width < 0 && harm.empty(); }
};

enum class SearchEnd : uint8_t { kDone, kHopeless, kNullDiffers, kFaults, kInterrupted };
inline constexpr std::array<std::string_view, 5> kSearchEndNames = {"done", "hopeless", "A differs from itself", "faults", "interrupted"};

// One measured pair, for charts.
struct PairPoint {
  PairKind kind = PairKind::kRace;
  std::string what;  // "threads = 8"
  double difference = 0;
  double elapsed_s = 0;
  double a_tpot_ms = 0, b_tpot_ms = 0;  // geometric means over the loads
  std::optional<double> probe_ms, read_gbs;
  uint32_t incumbent = 0;  // how many moves had been adopted
};

struct SearchResult {
  SearchEnd end = SearchEnd::kInterrupted;
  std::string end_reason;
  std::string version;          // of the server
  double start_s = 0;           // of the base
  bool text_gate = true;        // false: the base's greedy replies are not even equal to themselves
  bool load_text_gate = false;  // replies under load are compared, too
  PairedFigures null;           // A against A, all of them
  double null_ln_e = 0;
  std::optional<double> smallest_gain;  // as a share: what this budget finds, or excludes, about as often as not
  uint32_t races = 0;                   // M: every candidate value counts, those that mean the same once
  std::vector<MoveVerdict> verdicts;
  std::vector<PruneVerdict> pruned;
  std::vector<Confirmation> confirmations;  // attempts, in their order
  KnobProfile base, winner;                 // winner: what is confirmed, else the base
  KnobProfile simplest;                     // without what could be left out of the winner unnoticed
  std::optional<KnobProfile> unconfirmed;   // the best that was known where the search did not come to its end
  std::vector<PairPoint> points;
  uint32_t pairs = 0, budget_pairs = 0;  // spent; allowed, or expected to fit into the time
  double elapsed_s = 0;
  std::vector<std::string> warnings, host_notes;

  // The one of the most moves; null: nothing is, or the search did not come to its end.
  const Confirmation* confirmed() const;
};

struct SearchEvents {
  std::function<void(const std::string& text)> note;                                 // a verdict, a phase
  std::function<void(const SearchResult& so_far, const std::string& now)> progress;  // after each pair and before each start
};

// kInvalid: the options contradict the catalogue, or leave nothing to try. Asked again by search().
Status check(const Catalogue& catalogue, const SearchOptions& options);

// kInvalid: what check() says, or the base can't be started.
Result<SearchResult> search(const Catalogue& catalogue, const SearchOptions& options, Trials& trials, const SearchEvents& events);

// "spec_k = 3, with graph_sizes = @exact_step_tokens"
std::string name_of(const std::string& knob, const KnobValue& value, const std::vector<Assignment>& with = {});

}  // namespace teapot::workbench
