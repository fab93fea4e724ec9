// Where a server under test listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

struct Endpoint {
  std::string host;
  uint16_t port = 80;
  std::string target = "/v1/chat/completions";  // of the request line
  std::string api_key;                          // sent as a bearer token unless empty

  bool chat() const { return target.ends_with("/chat/completions"); }
  std::string url() const;
  // The same server, another target.
  Endpoint with_target(std::string other) const;
};

// "http://host:port/v1/chat/completions" or ".../v1/completions"; a URL that ends before /v1, or in it, gets the chat target.
// kUnsupported for https; kInvalid for what is no URL.
Result<Endpoint> parse_endpoint(std::string_view url, std::string api_key = "");

}  // namespace teapot::workbench
