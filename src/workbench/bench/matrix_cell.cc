#include "workbench/bench/matrix_cell.h"

#include <cstdlib>

#include "workbench/bench/report_folder.h"

namespace teapot::workbench {

std::vector<MatrixCell> cells_of(const MatrixPlan& plan) {
  std::vector<MatrixCell> cells;
  for (size_t server = 0; server < plan.servers.size(); ++server) {
    for (const MatrixLoad& load : plan.loads) {
      for (size_t i = 0; i < plan.parallel.size(); ++i) cells.push_back({server, load, plan.parallel[i], plan.number[i]});
    }
  }
  return cells;
}

std::string cell_name(const MatrixPlan& plan, const MatrixCell& cell) {
  return fmt::format("{}-{}-{}-c{}", folder_name(plan.servers[cell.server].name), cell.load.prompt_tokens, cell.load.output_tokens,
                     cell.parallel);
}

uint64_t cell_seed(const MatrixPlan& plan, const MatrixCell& cell) {
  uint64_t seed = plan.seed;
  for (const uint64_t value : {cell.load.prompt_tokens, cell.load.output_tokens, cell.parallel}) {
    // The finalizer of SplitMix64: each bit of what goes in reaches all of what comes out.
    seed += value + 0x9e3779b97f4a7c15;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
    seed ^= seed >> 31;
  }
  return seed >> 11;  // 53 bits: a JSON reader that has doubles only still reads it
}

Json cell_definition(const MatrixPlan& plan, const MatrixCell& cell) {
  const MatrixServer& server = plan.servers[cell.server];
  return {{"teapot", TEAPOT_VERSION},
          {"server",
           {{"name", server.name},
            {"url", server.url},
            {"model-path", server.model_path},
            {"serve-args", server.serve_arguments},
            {"command", server.command},
            {"tokenizer", server.tokenizer},
            {"model", server.model},
            {"extra-args", server.extra_args}}},
          {"prompt", cell.load.prompt_tokens},
          {"output", cell.load.output_tokens},
          {"parallel", cell.parallel},
          {"number", cell.number},
          {"warmup", plan.warmup},
          {"prefix-length", plan.prefix_length},
          {"seed", cell_seed(plan, cell)},
          {"temperature", plan.temperature},
          {"allow-length-drift", plan.allow_length_drift}};
}

Result<BenchOptions> cell_options(const MatrixPlan& plan, const MatrixCell& cell, const std::string& program) {
  const MatrixServer& server = plan.servers[cell.server];
  BenchOptions options;
  options.name = cell_name(plan, cell);
  if (server.model_path.empty()) {
    options.url = server.url;
  } else {
    options.model_path = server.model_path;
  }
  options.serve_arguments = server.serve_arguments;
  options.program = program;
  if (!server.api_key_env.empty()) {
    const char* key = std::getenv(server.api_key_env.c_str());
    if (key == nullptr) return fail(ErrorKind::kNotFound, "server '{}': {} is not set in the environment", server.name, server.api_key_env);
    options.api_key = key;
  }
  if (!server.tokenizer.empty()) options.tokenizer_path = server.tokenizer;
  options.parallel = {cell.parallel};
  options.number = {cell.number};
  options.warmup = plan.warmup;
  options.allow_length_drift = plan.allow_length_drift;
  options.token_timeout = plan.token_timeout;
  options.dataset.dataset = "random";
  options.dataset.min_prompt_length = options.dataset.max_prompt_length = cell.load.prompt_tokens;
  options.dataset.prefix_length = plan.prefix_length;
  options.dataset.seed = cell_seed(plan, cell);
  options.body.model = server.model;
  options.body.min_tokens = options.body.max_tokens = cell.load.output_tokens;
  options.body.temperature = plan.temperature;
  options.body.extra_args = server.extra_args;
  return options;
}

CellResult cell_result(const MatrixCell& cell, const BenchRun& run) {
  CellResult result;
  result.cell = cell;
  result.warnings = run.warnings;
  if (run.loads.empty()) {
    result.error = "the run was stopped before its load began";
    return result;
  }
  const LoadSummary& summary = run.loads.front().summary;
  CellFigures figures;
  figures.requests = summary.requests;
  figures.succeeded = summary.succeeded;
  figures.ttft_ms = summary.ttft_ms.mean;
  figures.ttft_p50_ms = summary.ttft_ms.p50;
  figures.ttft_p99_ms = summary.ttft_ms.p99;
  figures.ttft_count = summary.ttft_ms.count;
  figures.tpot_ms = summary.tpot_ms.mean;
  figures.tpot_p50_ms = summary.tpot_ms.p50;
  figures.tpot_p99_ms = summary.tpot_ms.p99;
  figures.tpot_count = summary.tpot_ms.count;
  if (summary.without_usage == 0) figures.output_tok_s = summary.output_tok_s;
  result.figures = figures;
  for (size_t kind = 1; kind < kOutcomeNames.size(); ++kind) {
    if (summary.outcomes[kind] == 0) continue;
    result.error += fmt::format("{}{} {}", result.error.empty() ? "" : ", ", summary.outcomes[kind], kOutcomeNames[kind]);
  }
  if (!result.error.empty()) result.error += fmt::format(" of {} requests", summary.requests);
  if (!run.complete) result.error += result.error.empty() ? "not completed" : "; not completed";
  return result;
}

}  // namespace teapot::workbench
