// What one load on one server came to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/load.h"

namespace teapot::workbench {

// One load on one server. The replicate is the turn, not the request: its requests are averaged.
struct TurnFigures {
  double tpot_ms = 0, ttft_ms = 0;  // means over the requests
  double completion_tokens = 0;     // mean
  uint32_t requests = 0, failed = 0;
  std::string untimed = {};               // why there is no time per token; empty where there is one; not kept in the ledger
  std::string fault = {};                 // what became of the first request that failed; empty without one
  uint64_t cached_tokens = 0;             // of all prompts, where the server tells
  uint64_t drafted = 0, accepted = 0;     // the same
  std::vector<std::string> replies = {};  // [requests]; not kept in the ledger
};

TurnFigures turn_figures(LoadResult result, bool keep_replies);

// Replies aside.
Json to_json(const TurnFigures& turn);
// kInvalid, naming the field.
Result<TurnFigures> parse_turn(const Json& json);

}  // namespace teapot::workbench
