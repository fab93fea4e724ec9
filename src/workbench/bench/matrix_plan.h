// What `teapot bench matrix` is to measure: servers x loads x users, read from a YAML file.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

// Reached at a URL, or a `teapot serve` of our own, or a command that is started first and answers at a URL then.
struct MatrixServer {
  std::string name;
  std::string url;
  std::string model_path;
  std::vector<std::string> serve_arguments;  // with model_path
  std::vector<std::string> command;          // program and arguments; with url, where its server will answer
  std::string health = "/health";            // of a command's server: the path that answers 200 when it is ready
  std::chrono::seconds start_timeout{600};   // until then
  std::string tokenizer;                     // random prompts need it; model_path is its own
  std::string model;                         // of the request's body; empty: what the server says
  std::string api_key_env;                   // the variable of the environment that holds the key
  Json extra_args = Json::object();          // merged into the request's body
};

// Random prompts of exactly so many tokens, replies of exactly so many.
struct MatrixLoad {
  uint32_t prompt_tokens = 0, output_tokens = 0;
};

struct MatrixPlan {
  std::string name;
  std::vector<MatrixServer> servers;
  std::string control;                                                       // one of the servers' names; empty: there is one server only
  std::vector<MatrixLoad> loads = {{1024, 512}, {1024, 1024}, {4096, 512}};  // the protocol's
  std::vector<uint32_t> parallel = {1, 4, 8};
  std::vector<uint32_t> number = {40, 80, 80};  // [parallel]
  uint32_t warmup = 20;
  uint32_t prefix_length = 0;
  uint64_t seed = 0;
  double temperature = 0;
  bool allow_length_drift = false;
  std::chrono::seconds token_timeout{120};

  const MatrixServer* control_server() const;  // null without one
};

// source names the text in errors, each with its line ("matrix.yaml:7: ..."); name is the plan's where the text has none. kInvalid also for
// a key that is not known or stands twice.
Result<MatrixPlan> parse_matrix_plan(std::string_view text, const std::string& source, const std::string& name);
// The file's stem is the name.
Result<MatrixPlan> read_matrix_plan(const std::string& path);

}  // namespace teapot::workbench
