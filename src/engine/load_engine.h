// From a path to an engine that is ready, with its text side.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/text_assets.h"

namespace teapot::engine {

struct LoadedEngine {
  std::optional<TextAssets> text;  // nothing: the checkpoint has no tokenizer
  std::unique_ptr<Engine> engine;
};

struct LoadHooks {
  std::function<void(const std::string& note)> note = [](const std::string&) {};  // what a user should be told once
  std::function<void(uint64_t done, uint64_t total)> progress = [](uint64_t, uint64_t) {};
  std::shared_ptr<EngineObserver> observer = nullptr;  // the engine's
};

// Stop tokens are the model's and the tokenizer's (spec 6.2). A tokenizer that is there but broken, or that has more tokens than the
// model has rows, is an error; one that is missing is not, unless text_needed.
Result<LoadedEngine> load_engine(const std::string& path, const EngineOptions& options, bool text_needed, const LoadHooks& hooks = {});

// A line a switch in the log: all of them if verbose, else those where active and requested differ. "auto" asks for nothing in particular.
void log_switches(const std::vector<plan::SwitchReport>& switches, bool verbose);

}  // namespace teapot::engine
