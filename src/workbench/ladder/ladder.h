// The ladder: levers turned on one after the other, each against the setting before it in pairs of turns, then each turned off alone.
//
// A pair is a turn of replies before and one after, at each number of sequences; whose turn comes first is drawn, balanced in blocks of
// four pairs. d = ln(after / before) of the turns' TPOT, its mean over the numbers of sequences is what a race is about. A rung's verdict
// doesn't change the way: the next one goes on from "on", but for what was refused, which stays off.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/ladder/race.h"

namespace teapot::workbench {

struct LadderOptions {
  std::vector<uint32_t> concurrency = {1, 4, 8};  // sequences
  uint32_t pairs = 16;                            // of a race, at most; of all off against all on: so many
  uint32_t aa_pairs = 6;                          // of all off against itself, first; 0: none
  double alpha = 0.1;                             // chance that any race calls equal settings different
  double min_difference = 0.01;                   // share of TPOT below which settings are as good as equal
  bool all_races = true;                          // alpha is that of all races together; else of each
  bool drops = true;                              // then each lever alone is turned off
  uint64_t seed = 0;                              // of the order
};

// kInvalid, naming the option; also for so few pairs that nothing could be decided.
Status check(const LadderOptions& options, const LadderOrder& order);

// E at which a race is decided.
double e_threshold(const LadderOptions& options, const LadderOrder& order);

enum class LadderEnd : uint8_t {
  kRunning,
  kDone,
  kNullDiffers,  // all off differs from itself: something else than levers makes the difference
  kInterrupted
};

struct Ladder {
  LadderOrder order;
  LadderOptions options;
  LadderEnd end = LadderEnd::kRunning;
  std::vector<LadderStep> steps;              // in the order of races
  std::optional<double> smallest_difference;  // of TPOT, as a share: what `pairs` find or exclude about as often as not

  // Whether it was climbed to its end, and no lever that is to be exact gave other tokens.
  bool sound() const;
};

// What a race needs before its first pair.
struct RaceStart {
  std::optional<std::string> refused = {};  // the setting after can't be had, or would change nothing: why
  std::string active = {};                  // what the lever's switch says of the setting after
};

// Where times come from.
class LadderBench {
 public:
  virtual ~LadderBench() = default;

  // Makes both settings ready. Errors end the ladder; what is the lever's own fault is a refusal.
  virtual Result<RaceStart> begin(const LadderRace& race) = 0;
  // Replies of one of them, at each number of sequences in turn.
  virtual Result<std::vector<LadderTurn>> run(bool b) = 0;
};

struct LadderHooks {
  std::function<Status(const Json& line)> keep = [](const Json&) -> Status { return {}; };
  std::function<void(const Ladder& done, const LadderStep& now)> progress = [](const Ladder&, const LadderStep&) {};  // after each pair
  std::function<Status(const Ladder& done)> step = [](const Ladder&) -> Status { return {}; };                        // after each step
  const std::atomic<bool>* stop = nullptr;  // set: the pair that runs is not finished and not kept
};

// Goes on behind `records` (of an earlier run) and adds to them.
Result<Ladder> run_ladder(const LadderOrder& order, const LadderOptions& options, LadderBench& bench, const LadderHooks& hooks,
                          LadderRecords& records);

}  // namespace teapot::workbench
