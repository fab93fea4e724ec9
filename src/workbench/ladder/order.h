// The order in which levers are climbed: a list of rungs in YAML, and what others measured on ladders of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

enum class RungGroup : uint8_t {
  kDecode,
  kMtp  // measured with drafts, after all others are on
};

struct LadderRung {
  std::string lever, off, on;
  bool reload = true;  // false: one engine serves both values, requests differ
  bool exact = true;   // both values give the same tokens: a hash that differs breaks the rung
  RungGroup group = RungGroup::kDecode;
  int line = 0;  // of the file
};

// A ladder of somebody else's.
struct OtherLadder {
  std::string name, note;
  std::vector<double> steps_ms;                             // TPOT of one user, from the start
  std::vector<std::pair<uint32_t, double>> with_drafts_ms;  // users, TPOT
};

struct LadderOrder {
  std::string name, source;
  std::vector<LadderRung> rungs;
  std::vector<OtherLadder> others;
};

// Whether there is such a lever and it could have such a value, on whatever host.
using LeverCheck = std::function<Status(const std::string& lever, const std::string& value)>;

// source names the text in errors, each with its line. kInvalid for keys that are not known, values that `check` refuses, a rung that
// doesn't begin where its lever stands, and mtp rungs before others.
Result<LadderOrder> parse_ladder_order(std::string_view text, const std::string& source, const LeverCheck& check);

// The order that is built in.
Result<LadderOrder> default_ladder_order(const LeverCheck& check);

// What a run depends on, for its ledger and reports.
Json to_json(const LadderOrder& order);

}  // namespace teapot::workbench
