#include "workbench/bench/matrix_plan.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "workbench/bench/endpoint.h"
#include "workbench/bench/report_folder.h"
#include "workbench/yaml_fields.h"
#include "workbench/yaml_text.h"

namespace teapot::workbench {
namespace {

constexpr size_t kMaxBytes = 1 << 20, kMaxServers = 100, kMaxLoads = 100, kMaxParallel = 100;
constexpr uint64_t kMaxTokens = 10'000'000, kMaxUsers = 4096, kMaxRequests = 1'000'000;

Status check_server(const YamlFields& fields, const MatrixServer& server) {
  if (server.name.empty()) return fields.wrong("name", "is missing");
  const int ways = int{!server.model_path.empty()} + int{!server.command.empty()} + int{server.command.empty() && !server.url.empty()};
  if (ways != 1) return fields.wrong("name", fmt::format("'{}': expected a url, a model-path, or a command with a url", server.name));
  if (!server.command.empty() && server.url.empty()) return fields.wrong("command", "needs a url, where its server will answer");
  if (!server.health.starts_with('/'))
    return fields.wrong("health", fmt::format("found '{}', expected a path like /health", server.health));
  for (const char* key : {"health", "start-timeout"}) {
    if (server.command.empty() && fields.has(key)) return fields.wrong(key, "is only for a server that has a command");
  }
  if (server.model_path.empty() && fields.has("serve-args"))
    return fields.wrong("serve-args", "is only for a server that has a model-path");
  if (!server.model_path.empty() && fields.has("url")) return fields.wrong("url", "is not for a server that has a model-path");
  if (server.model_path.empty() && server.tokenizer.empty()) {
    return fields.wrong("tokenizer",
                        fmt::format("is missing for '{}': prompts of an exact length need the model's tokenizer", server.name));
  }
  if (server.url.empty()) return {};
  if (const auto endpoint = parse_endpoint(server.url); !endpoint) return fields.wrong("url", endpoint.error().message);
  return {};
}

Result<MatrixServer> read_server(const YAML::Node& node, const std::string& source, size_t number) {
  TEAPOT_TRY(const YamlFields fields, YamlFields::of(node, source, fmt::format("server {}", number),
                                                     {"name", "url", "model-path", "serve-args", "command", "health", "start-timeout",
                                                      "tokenizer", "model", "api-key-env", "extra-args"}));
  MatrixServer server;
  TEAPOT_CHECK(fields.read("name", server.name));
  TEAPOT_CHECK(fields.read("url", server.url));
  TEAPOT_CHECK(fields.read("model-path", server.model_path));
  TEAPOT_CHECK(fields.read("serve-args", server.serve_arguments));
  TEAPOT_CHECK(fields.read("command", server.command));
  TEAPOT_CHECK(fields.read("health", server.health));
  uint64_t seconds = static_cast<uint64_t>(server.start_timeout.count());
  TEAPOT_CHECK(fields.read("start-timeout", seconds, 1, 86'400));
  server.start_timeout = std::chrono::seconds(seconds);
  TEAPOT_CHECK(fields.read("tokenizer", server.tokenizer));
  TEAPOT_CHECK(fields.read("model", server.model));
  TEAPOT_CHECK(fields.read("api-key-env", server.api_key_env));
  std::string extra;
  TEAPOT_CHECK(fields.read("extra-args", extra));
  if (!extra.empty()) {
    auto parsed = parse_json(extra, "extra-args");
    if (!parsed) return fields.wrong("extra-args", parsed.error().message);
    if (!parsed->is_object()) return fields.wrong("extra-args", "expected the text of a JSON object");
    server.extra_args = *std::move(parsed);
  }
  TEAPOT_CHECK(check_server(fields, server));
  return server;
}

Status read_servers(const YamlFields& fields, const std::string& source, MatrixPlan& plan) {
  const YAML::Node* servers = fields.find("servers");
  if (servers == nullptr || !servers->IsSequence() || servers->size() == 0 || servers->size() > kMaxServers) {
    return fields.wrong("servers", fmt::format("expected a list of 1 to {} servers", kMaxServers));
  }
  for (const YAML::Node& node : *servers) {
    TEAPOT_TRY(MatrixServer server, read_server(node, source, plan.servers.size() + 1));
    const std::string folder = folder_name(server.name);  // of its cells
    for (const MatrixServer& other : plan.servers) {
      if (folder_name(other.name) == folder) return fields.wrong("servers", fmt::format("two servers have the name '{}'", server.name));
    }
    plan.servers.push_back(std::move(server));
  }
  TEAPOT_CHECK(fields.read("control", plan.control));
  if (plan.servers.size() > 1 && plan.control.empty())
    return fields.wrong("control", "is missing: the name of the server that ratios refer to");
  if (!plan.control.empty() && plan.control_server() == nullptr) {
    return fields.wrong("control", fmt::format("'{}' is the name of none of the servers", plan.control));
  }
  return {};
}

Status read_loads(const YamlFields& fields, const std::string& source, MatrixPlan& plan) {
  const YAML::Node* loads = fields.find("loads");
  if (loads == nullptr) return {};
  if (!loads->IsSequence() || loads->size() == 0 || loads->size() > kMaxLoads) {
    return fields.wrong("loads", fmt::format("expected a list of 1 to {} loads", kMaxLoads));
  }
  plan.loads.clear();
  for (const YAML::Node& node : *loads) {
    TEAPOT_TRY(const YamlFields load, YamlFields::of(node, source, fmt::format("load {}", plan.loads.size() + 1), {"prompt", "output"}));
    MatrixLoad tokens;
    for (const char* key : {"prompt", "output"}) {
      if (!load.has(key)) return load.wrong(key, "is missing: a number of tokens");
    }
    TEAPOT_CHECK(load.read("prompt", tokens.prompt_tokens, 1, kMaxTokens));
    TEAPOT_CHECK(load.read("output", tokens.output_tokens, 1, kMaxTokens));
    for (const MatrixLoad& other : plan.loads) {
      if (other.prompt_tokens == tokens.prompt_tokens && other.output_tokens == tokens.output_tokens) {
        return load.wrong("prompt", fmt::format("{}/{} stands twice", tokens.prompt_tokens, tokens.output_tokens));
      }
    }
    plan.loads.push_back(tokens);
  }
  return {};
}

Status read_users(const YamlFields& fields, MatrixPlan& plan) {
  TEAPOT_CHECK(fields.read("parallel", plan.parallel, 1, kMaxUsers));
  if (plan.parallel.size() > kMaxParallel) return fields.wrong("parallel", fmt::format("expected at most {} numbers", kMaxParallel));
  for (size_t i = 0; i < plan.parallel.size(); ++i) {
    if (std::ranges::count(plan.parallel, plan.parallel[i]) > 1)
      return fields.wrong("parallel", fmt::format("{} stands twice", plan.parallel[i]));
  }
  if (fields.has("parallel") && !fields.has("number")) return fields.wrong("number", "is missing: requests for each of parallel");
  TEAPOT_CHECK(fields.read("number", plan.number, 1, kMaxRequests));
  if (plan.number.size() == 1) plan.number.assign(plan.parallel.size(), plan.number.front());
  if (plan.number.size() != plan.parallel.size()) {
    return fields.wrong("number",
                        fmt::format("found {} numbers, expected one, or {} as for parallel", plan.number.size(), plan.parallel.size()));
  }
  return {};
}

Result<MatrixPlan> read_plan(const YAML::Node& root, const std::string& source, const std::string& name) {
  TEAPOT_TRY(const YamlFields fields, YamlFields::of(root, source, "matrix",
                                                     {"name", "servers", "control", "loads", "parallel", "number", "warmup",
                                                      "prefix-length", "seed", "temperature", "allow-length-drift", "token-timeout"}));
  MatrixPlan plan;
  plan.name = name;
  TEAPOT_CHECK(fields.read("name", plan.name));
  TEAPOT_CHECK(read_servers(fields, source, plan));
  TEAPOT_CHECK(read_loads(fields, source, plan));
  TEAPOT_CHECK(read_users(fields, plan));
  TEAPOT_CHECK(fields.read("warmup", plan.warmup, 0, kMaxRequests));
  TEAPOT_CHECK(fields.read("prefix-length", plan.prefix_length, 0, kMaxTokens));
  TEAPOT_CHECK(fields.read("seed", plan.seed, 0, UINT64_MAX));
  TEAPOT_CHECK(fields.read("temperature", plan.temperature, 0, 2));
  TEAPOT_CHECK(fields.read("allow-length-drift", plan.allow_length_drift));
  uint64_t seconds = static_cast<uint64_t>(plan.token_timeout.count());
  TEAPOT_CHECK(fields.read("token-timeout", seconds, 1, 86'400));
  plan.token_timeout = std::chrono::seconds(seconds);
  return plan;
}

}  // namespace

const MatrixServer* MatrixPlan::control_server() const {
  const auto found = std::ranges::find(servers, control, &MatrixServer::name);
  return found == servers.end() ? nullptr : &*found;
}

Result<MatrixPlan> parse_matrix_plan(std::string_view text, const std::string& source, const std::string& name) {
  if (text.size() > kMaxBytes) return fail(ErrorKind::kInvalid, "{}: {} bytes, expected at most {}", source, text.size(), kMaxBytes);
  return with_yaml(text, source, [&](const YAML::Node& root) { return read_plan(root, source, name); });
}

Result<MatrixPlan> read_matrix_plan(const std::string& path) {
  TEAPOT_TRY(const std::string text, read_file(path));
  return parse_matrix_plan(text, path, std::filesystem::path(path).stem().string());
}

}  // namespace teapot::workbench
