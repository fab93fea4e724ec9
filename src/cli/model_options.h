// Options that every command which runs a model has, and the loading that they ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "engine/load_engine.h"

namespace teapot::cli {

// A time, at most a day; a range alone lets "nan" pass.
inline const CLI::Validator kSeconds(
    [](const std::string& text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 86400) return "";
      return text + ": expected seconds, 0 to 86400";
    },
    "SECONDS");

struct ModelOptions {
  std::string model;
  engine::EngineOptions engine;
  bool verbose = false;
};

// MODEL, the switches of the backend and of weights, --ctx, --prefill-chunk, --prefix-cache, --cache-bytes, --logits-mask, --mtp,
// --draft-vocab, --step-timeout, --warmup, --require-plan, --verbose.
void add_model_options(CLI::App& command, ModelOptions& options);
// How several users share the engine: --max-queue, --max-seqs, --tpot-stretch.
void add_scheduler_options(CLI::App& command, engine::EngineOptions& options);
CLI::Option* add_draft_vocab_option(CLI::App& command, engine::EngineOptions& options);
// Those of the backend and of weights alone, and --verbose.
void add_backend_options(CLI::App& command, ModelOptions& options);

// Loads with a progress bar; notes, the context limit and switches that are not what was asked for are told on stderr.
Result<engine::LoadedEngine> load_engine(const ModelOptions& options, bool text_needed);

// A model and the backend that holds its weights, without an engine: for measuring.
struct LoadedBackend {
  model::Model model;
  std::unique_ptr<plan::Backend> backend;
};
// Told on stderr: progress, notes, switches that are not what was asked for.
// drafts: that states have room for.
Result<LoadedBackend> load_backend(const ModelOptions& options, uint32_t drafts = 0);

}  // namespace teapot::cli
