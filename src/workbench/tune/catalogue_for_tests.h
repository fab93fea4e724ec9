// A small catalogue for tests.
#pragma once

#include <string>
#include <string_view>

namespace teapot::workbench {

inline std::string catalogue_head(std::string_view more = "") {
  return std::string("server: s\nversion: \"1\"\napi: openai\nmetric_prefix: \"\"\n") + std::string(more) +
         "launch:\n  start: \"run 'a b' --port {port}\"\n  ready: GET /health\nknobs:\n";
}

// A knob with the keys that every knob has; `more` are lines of further keys, each indented by two.
inline std::string knob_yaml(std::string_view name, std::string_view set, std::string_view type, std::string_view values,
                             std::string_view more = "", std::string_view scope = "host") {
  std::string text = "- name: " + std::string(name) + "\n  set: {" + std::string(set) + "}\n  type: " + std::string(type) +
                     "\n  values: " + std::string(values) + "\n  scope: " + std::string(scope) +
                     "\n  rank: 1\n  restart: true\n  effect: none\n  risk: {text: same}\n  check: {kind: none}\n  evidence: [here]\n"
                     "  verified: true\n";
  return text + std::string(more);
}

}  // namespace teapot::workbench
