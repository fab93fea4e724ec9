// Options that every command which runs a model has, and the loading that they ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "engine/load_engine.h"

namespace teapot::cli {

struct ModelOptions {
  std::string model;
  engine::EngineOptions engine;
  bool verbose = false;
};

// MODEL, the switches of the backend and of weights, --ctx, --prefill-chunk, --prefix-cache, --cache-bytes, --logits-mask, --step-timeout,
// --warmup, --require-plan, --verbose.
void add_model_options(CLI::App& command, ModelOptions& options);
// How several users share the engine: --max-queue, --max-seqs, --tpot-stretch.
void add_scheduler_options(CLI::App& command, engine::EngineOptions& options);
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
Result<LoadedBackend> load_backend(const ModelOptions& options);

}  // namespace teapot::cli
