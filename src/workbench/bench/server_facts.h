// What a server tells of itself before it is measured: its model's name, and, if it is a Teapot, its version and switches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "workbench/bench/endpoint.h"

namespace teapot::workbench {

struct ServerFacts {
  std::optional<std::string> unreachable;  // why, in words
  std::vector<std::string> models;         // of /v1/models
  std::string models_error;                // why there are none
  bool key_refused = false;                // that is why
  Json version;                            // of /version; null: not told
  Json levers;                             // of Teapot's /v1/status: {name: {"requested", "active"}}; null: not told
  Json context_tokens;                     // null: not told
};

ServerFacts ask_server(const Endpoint& endpoint);

// For an error where `models` is empty; instead: the option that would name one.
std::string why_no_model(const ServerFacts& facts, std::string_view instead);

// The server is on this host: its address is of the loopback, or it is this host's name.
bool is_local(const Endpoint& endpoint);

}  // namespace teapot::workbench
