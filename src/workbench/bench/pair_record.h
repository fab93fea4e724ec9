// One pair of a comparison: the same loads on two servers back to back, as it was measured and as a line of the ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/reply_difference.h"
#include "workbench/bench/turn_figures.h"

namespace teapot::workbench {

struct LoadPair {
  uint32_t parallel = 0;
  TurnFigures a = {}, b = {};
  ReplyDifference replies = {};  // of none where the prompts weren't the same
};

struct PairRecord {
  uint32_t number = 0;                  // of the run, from 0, those with faults included
  bool null = false;                    // A against A: both turns are A's, the second one stands where B's does
  bool b_first = false;                 // whose turn came first, at every load
  std::vector<LoadPair> loads = {};     // [parallel]; fewer where a fault ended the pair
  std::string fault = {};               // why the pair doesn't count; empty: it does
  std::optional<double> read_gbs = {};  // memory bandwidth of this host just before, measured once a block of pairs where a server is local
  std::string at = {};                  // UTC, when it ended

  bool valid() const { return fault.empty(); }
};

Json to_json(const PairRecord& pair);

// A line of the ledger. kInvalid, naming the field, for what to_json doesn't write; a valid pair has the loads of `parallel`.
Result<PairRecord> parse_pair(const Json& line, const std::vector<uint32_t>& parallel);

}  // namespace teapot::workbench
