// What speculation brings: the same replies with and without drafts, in turn, in one engine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/load_engine.h"
#include "workbench/figures.h"
#include "workbench/reply_turn.h"

namespace teapot::workbench {

using DraftSetting = std::optional<uint32_t>;  // drafts in a step; nothing: as many as pay

// "off" is 0.
std::string to_text(const DraftSetting& setting);

struct DraftSpeedOptions {
  std::vector<uint32_t> concurrency = {1, 4, 8};
  std::vector<DraftSetting> settings = {1u, 2u, 3u, 4u, std::nullopt};  // each against none
  AcceptRates accept_rates = {};                                        // a draft is the true token with these chances, else a wrong one
  uint32_t prompt = 256;                                                // tokens, different ones, where there are no prompts
  uint32_t gen = 128;                                                   // tokens of a reply
  uint32_t repeat = 5;                                                  // replies with each setting
  std::vector<std::vector<int32_t>> prompts = {};  // taken in turn; replies end where the model ends them: turns whose replies are so
                                                   // short that they never decode together have no TPOT, and count for nothing
};

struct DraftSpeed {
  uint32_t c = 0;
  DraftSetting setting;
  Spread tpot_ms = {};  // while all sequences decode
  Spread gain = {};     // of the setting 0 in the same turn by this one: above 1, drafts pay
  engine::DraftCounts drafts = {};
  uint64_t steps = 0, tokens = 0, plan_misses = 0;
  double draft_ms = 0, catch_up_ms = 0, model_ms = 0, sample_ms = 0;  // of a step, on average
  double replay_ms = 0;  // of model_ms: accepted tokens moved into recurrent states, and the log of drafts
  bool equal = true;     // all replies are those without drafts
};

struct DraftSpeeds {
  DraftSpeedOptions options;
  std::string model;
  double coverage = 1;  // of sampled tokens, those that drafts could have said
  std::vector<DraftSpeed> speeds;
  std::vector<plan::SwitchReport> levers;
};

// Loads the model with engine options of its own making: room for all sequences and the deepest drafts. kUnsupported without an MTP layer,
// kInvalid where no turn could be measured.
Result<DraftSpeeds> measure_draft_speed(const std::string& path, const engine::EngineOptions& engine, const DraftSpeedOptions& options,
                                        const engine::LoadHooks& hooks, const std::function<void(const std::string& what)>& progress);

Json to_json(const DraftSpeeds& speeds);
std::string to_text(const DraftSpeeds& speeds);

}  // namespace teapot::workbench
