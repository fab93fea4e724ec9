// GET /v1/status: what the engine does now, for people.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "plan/backend.h"
#include "server/figures.h"

namespace teapot::server {

struct StatusFacts {
  std::string model;
  std::string family;
  uint32_t context_tokens = 0;
  std::string context_reason;
  uint32_t max_seqs = 0;
  EngineFigures now;
  std::vector<plan::SwitchReport> switches;
  std::vector<std::string> notes;
};

// Sizes are bytes, unless a name says otherwise.
Json status_json(const StatusFacts& facts);

}  // namespace teapot::server
