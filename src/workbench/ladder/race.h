// The races of a ladder: what stands against what, as it was measured, and what that says.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/ladder/order.h"
#include "workbench/pairs/race.h"
#include "workbench/pairs/ratio_figures.h"

namespace teapot::workbench {

using LeverSetting = std::vector<std::pair<std::string, std::string>>;  // lever, value; each lever once

enum class LadderKind : uint8_t {
  kNull,   // all off against the same: the noise
  kClimb,  // a rung: its lever turned on, on top of those before
  kDrop,   // everything on against the same with one lever off, which stands first
  kWhole   // all off against all on, for a number of pairs that is fixed beforehand
};
inline constexpr std::array<std::string_view, 4> kLadderKindNames = {"null", "climb", "drop", "whole"};

struct LadderRace {
  LadderKind kind = LadderKind::kNull;
  std::string name = {};                       // of the ledger's lines: unlike that of all other races
  std::string lever = {}, from = {}, to = {};  // of kClimb and kDrop
  bool reload = true, exact = true;
  RungGroup group = RungGroup::kDecode;
  std::string place = {};       // of the order's rung: "ladder.yml:7"; empty without one
  LeverSetting a = {}, b = {};  // before, after
};

// The replies of one setting at one number of sequences.
struct LadderTurn {
  uint32_t c = 0;
  double tpot_ms = 0;
  uint64_t hash = 0;  // of the tokens
};

struct LadderPair {
  uint32_t number = 0;
  bool b_first = false;
  std::vector<LadderTurn> a = {}, b = {};  // [concurrency]
  std::string at = {};                     // UTC, when it ended
};

// What is known of a race.
struct RaceRecord {
  std::optional<std::string> refused;  // why there are no pairs
  std::string active;                  // what the lever's switch says of the setting after
  std::vector<LadderPair> pairs;
};
using LadderRecords = std::map<std::string, RaceRecord>;  // by the race's name

// Lines of the ledger.
Json pair_line(const std::string& race, const LadderPair& pair);
Json start_line(const std::string& race, const RaceRecord& record);
// kInvalid, naming the field, for what the two don't write and for pairs that don't come in turn. concurrency: that of all pairs.
Status add_ladder_line(const Json& line, const std::vector<uint32_t>& concurrency, LadderRecords& records);

enum class LadderVerdict : uint8_t {
  kRunning,
  kWin,        // the setting after takes less time
  kLose,       // it takes more
  kNull,       // no difference that would matter
  kUndecided,  // the pairs were used up
  kRefused,    // the host or the model can't have it, or it changes nothing: RaceRecord::refused
  kBroken      // other tokens, of a lever that is to be exact
};
inline constexpr std::array<std::string_view, 7> kLadderVerdictNames = {"running", "win", "lose", "null", "undecided", "refused", "BROKEN"};

struct LadderStep {
  LadderRace race;
  LadderVerdict verdict = LadderVerdict::kRunning;
  std::string reason;  // of kRefused and kBroken
  std::string active;
  RatioFigures mean;                 // over the numbers of sequences
  std::vector<RatioFigures> loads;   // [concurrency]
  std::optional<bool> equal_tokens;  // nothing before the first pair

  bool measured() const { return mean.log_ratio.pairs > 0; }
};

// fixed: no verdict before rules.cap pairs; then Student's t interval decides. alpha: of the sequence in the figures.
LadderStep judge(LadderRace race, const RaceRecord& record, const RaceRules& rules, bool fixed, double alpha);

}  // namespace teapot::workbench
