// A ladder's times from engines in this process: both settings loaded at once where memory allows, else each turn's anew.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/load_engine.h"
#include "workbench/ladder/ladder.h"
#include "workbench/reply_turn.h"

namespace teapot::workbench {

struct EngineBenchOptions {
  std::string model;                               // path
  std::vector<uint32_t> concurrency = {1, 4, 8};   // sequences
  uint32_t prompt = 256;                           // tokens, different ones, where there are no prompts
  uint32_t gen = 32;                               // tokens of a reply
  std::vector<std::vector<int32_t>> prompts = {};  // taken in turn
  AcceptRates accept_rates = {};                   // a draft is the true token with these chances, else a wrong one
  bool reload = false;                             // each turn loads anew, even where two settings fit
  std::optional<bool> both_at_once = {};           // how a ladder that is gone on with was begun; else as memory allows
  // Everything that a setting asks for.
  std::function<Result<engine::EngineOptions>(const LeverSetting& setting)> engine_options;
};

// Replies are greedy, of `gen` tokens exactly: stop tokens may not come out before, as in the protocol of `teapot bench`, so that there is
// a mask in each step. Prompts are in the prefix cache, unless that is off; a turn before the first timed one gives the true replies.
class EngineBench : public LadderBench {
 public:
  // Says which way turns are loaded. Errors of the model's files, options that leave nothing to measure (kInvalid), and kMemory where
  // both settings have to be loaded at once and don't fit.
  static Result<std::unique_ptr<EngineBench>> open(const EngineBenchOptions& options, const LadderOrder& order);
  ~EngineBench() override;

  // In a rung, what keeps an engine from being loaded is a refusal, but for kInternal. kInvalid where no switch has the lever's name.
  Result<RaceStart> begin(const LadderRace& race) override;
  Result<std::vector<LadderTurn>> run(bool b) override;

  bool both_at_once() const { return both_at_once_; }
  const std::string& way() const { return way_; }  // how settings are loaded and why, for people

 private:
  struct Loaded;
  struct Arm {
    LeverSetting setting;                // of the engine
    std::optional<uint32_t> depth = {};  // of requests: drafts in a step
    std::shared_ptr<Loaded> engine = {};
  };

  explicit EngineBench(const EngineBenchOptions& options) : options_(options) {}

  Status choose_way(const LadderOrder& order);
  void set_arms(const LadderRace& race);
  Status provide(Arm& arm);
  Result<std::shared_ptr<Loaded>> load(const LeverSetting& setting) const;
  Status warm_up(Loaded& loaded) const;
  Result<ReplyTurn> turn(const Loaded& loaded, size_t load, std::optional<uint32_t> depth) const;
  std::vector<int32_t> prompt(uint32_t sequence, uint32_t vocab) const;

  const EngineBenchOptions options_;
  bool both_at_once_ = false;
  std::string way_;
  Arm a_, b_;
};

}  // namespace teapot::workbench
