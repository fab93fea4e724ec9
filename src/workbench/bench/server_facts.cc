#include "workbench/bench/server_facts.h"

#include <unistd.h>

#include "workbench/bench/http_get.h"

namespace teapot::workbench {
namespace {

constexpr std::chrono::seconds kPatience{10};

// The targets beside the one that is measured, behind the same gateway.
Endpoint beside(const Endpoint& endpoint, const std::string& target) {
  const size_t v1 = endpoint.target.rfind("/v1/");
  return endpoint.with_target((v1 == std::string::npos ? "" : endpoint.target.substr(0, v1)) + target);
}

// The JSON object of a 200; null for anything else.
Json ask(const Endpoint& endpoint) {
  const auto answer = http_get(endpoint, kPatience);
  if (!answer || answer->status != 200) return nullptr;
  auto json = parse_json(answer->body, endpoint.url());
  return json && json->is_object() ? *std::move(json) : Json(nullptr);
}

void take_models(const Json& list, ServerFacts& facts) {
  const auto data = list.is_object() ? list.find("data") : list.end();
  if (data != list.end() && data->is_array()) {
    for (const Json& model : *data) {
      if (!model.is_object() || !model.contains("id") || !model["id"].is_string()) continue;
      if (facts.models.empty() && model.contains("max_model_len")) facts.context_tokens = model["max_model_len"];
      facts.models.push_back(model["id"].get<std::string>());
    }
  }
  if (facts.models.empty()) facts.models_error = "its list has no models";
}

}  // namespace

ServerFacts ask_server(const Endpoint& endpoint) {
  ServerFacts facts;
  const Endpoint models = beside(endpoint, "/v1/models");
  const auto answer = http_get(models, kPatience);
  if (!answer) {
    facts.unreachable = answer.error().message;
    return facts;
  }
  if (answer->status == 200) {
    const auto json = parse_json(answer->body, models.url());
    take_models(json ? *json : Json(), facts);
  } else {
    facts.models_error = fmt::format("status {}", answer->status);
    facts.key_refused = answer->status == 401 || answer->status == 403;
  }
  const Json version = ask(beside(endpoint, "/version"));
  if (version.is_object() && version.contains("version")) facts.version = version["version"];
  const Json status = ask(beside(endpoint, "/v1/status"));
  const auto switches = status.is_object() ? status.find("switches") : status.end();
  if (switches != status.end() && switches->is_array()) {
    facts.levers = Json::object();
    for (const Json& lever : *switches) {
      if (!lever.is_object() || !lever.contains("name") || !lever["name"].is_string()) continue;
      facts.levers[lever["name"].get<std::string>()] = {{"requested", lever.value("requested", Json())},
                                                        {"active", lever.value("active", Json())}};
    }
  }
  return facts;
}

std::string why_no_model(const ServerFacts& facts, std::string_view instead) {
  if (facts.key_refused) return fmt::format("the server refuses the key ({}); --api-key KEY", facts.models_error);
  return fmt::format("the server names no model at /v1/models ({}); expected one, or {}", facts.models_error, instead);
}

bool is_local(const Endpoint& endpoint) {
  if (endpoint.host == "localhost" || endpoint.host == "::1" || endpoint.host == "0.0.0.0" || endpoint.host.starts_with("127."))
    return true;
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 && endpoint.host == name;
}

}  // namespace teapot::workbench
