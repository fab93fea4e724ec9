// What a search asks of the world: one start of a configuration to look at it, and pairs of starts to measure. Servers answer
// (server_trials.h), a ledger that was written before (recorded_trials.h), or a simulation in tests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/turn_figures.h"
#include "workbench/tune/condition.h"
#include "workbench/tune/counters.h"

namespace teapot::workbench {

enum class TrialFault : uint8_t {
  kNone,
  kStart,     // it ended before it was ready
  kHang,      // not ready, or no answer, in time
  kCrash,     // it ended after it was ready
  kRequests,  // it lives, but requests failed
};
inline constexpr std::array<std::string_view, 5> kTrialFaultNames = {"none", "start", "hang", "crash", "requests"};

// Whether a setting was seen to be in force.
enum class Seen : uint8_t { kYes, kNo, kNobodyCanTell };
inline constexpr std::array<std::string_view, 3> kSeenNames = {"yes", "no", "nobody can tell"};

struct Evidence {
  std::string knob;
  Seen seen = Seen::kNobodyCanTell;
  std::string what;  // that was looked at, and found
};

// One start: does it come up, does it write the same text, does what was set take effect?
struct Validation {
  TrialFault fault = TrialFault::kNone;
  std::string what;                  // of the fault, in words
  std::string version;               // as the server tells it; empty: not told
  double start_s = 0;                // until it was ready
  std::vector<std::string> replies;  // [fixed prompts], greedy
  std::vector<Evidence> evidence;    // of the knobs that differ from their defaults
  std::vector<std::string> notes;    // what could not be asked of this server, and so is not guarded
  // {"args", "env", "log"}, and {"config": {"file", "hash"}} where it shows its configuration: for the reader of the ledger.
  Json started;
};

// One start under all loads.
struct Arm {
  TrialFault fault = TrialFault::kNone;
  std::string what;
  double start_s = 0;
  std::vector<TurnFigures> loads;  // [parallel]; fewer with a fault
  std::string hash;                // of all replies under the load of fewest users, hexadecimal; empty: none
  std::optional<double> probe_ms;  // TPOT of one small request that is the same in all pairs
  std::string version;             // as the server tells it; empty: not told, or an older ledger
  Counters counters;               // of the server, by how much they grew under the loads: those worth keeping
  Json started;
};

enum class PairKind : uint8_t { kNull, kHalving, kRace, kPrune, kConfirm };
inline constexpr std::array<std::string_view, 5> kPairKindNames = {"aa", "halving", "race", "prune", "confirm"};

struct PairRequest {
  PairKind kind = PairKind::kRace;
  KnobProfile a, b;  // canonical
  bool b_first = false;
  uint32_t prompts = 0;  // which set of prompts; both arms get the same
};

struct PairOutcome {
  Arm a, b;
  std::optional<double> read_gbs;  // of this host, where it is measured
};

class Trials {
 public:
  virtual ~Trials() = default;

  // Faults of the configuration are values; errors are what ends the session.
  virtual Result<Validation> validate(const KnobProfile& profile) = 0;
  virtual Result<PairOutcome> pair(const PairRequest& request) = 0;
  // Spent on what was answered so far.
  virtual double elapsed_s() const = 0;
  // An error came because nobody answers any more: interrupted, or at the end of a ledger that is only read.
  virtual bool over() const = 0;
  // The last answer was given in an earlier session.
  virtual bool recalled() const { return false; }
};

}  // namespace teapot::workbench
