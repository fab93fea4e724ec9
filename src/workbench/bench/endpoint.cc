#include "workbench/bench/endpoint.h"

#include <algorithm>
#include <charconv>

namespace teapot::workbench {
namespace {

constexpr std::string_view kChatTarget = "/v1/chat/completions";

// What a URL's path asks for. Paths in front of /v1 are kept: servers behind a gateway have them.
std::string target_of(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with("/completions")) return std::string(path);
  if (path.ends_with("/v1")) path.remove_suffix(3);
  return std::string(path) + std::string(kChatTarget);
}

bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
}

bool is_path_character(char c) { return c > ' ' && c < 0x7f && c != '#' && c != '?'; }

}  // namespace

std::string Endpoint::url() const {
  const bool bracketed = host.find(':') != std::string::npos;  // an IPv6 address
  return fmt::format("http://{}{}{}:{}{}", bracketed ? "[" : "", host, bracketed ? "]" : "", port, target);
}

Endpoint Endpoint::with_target(std::string other) const {
  Endpoint endpoint = *this;
  endpoint.target = std::move(other);
  return endpoint;
}

Result<Endpoint> parse_endpoint(std::string_view url, std::string api_key) {
  const auto wrong = [url](std::string_view why) {
    return fail(ErrorKind::kInvalid, "'{}' is no URL of a server: {}; expected http://HOST[:PORT][/v1/chat/completions]", url, why);
  };
  if (url.starts_with("https://")) return fail(ErrorKind::kUnsupported, "'{}': https is not supported, only http", url);
  std::string_view rest = url;
  if (!rest.starts_with("http://")) return wrong("it does not begin with http://");
  rest.remove_prefix(7);
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  const std::string_view path = rest.substr(slash);

  Endpoint endpoint;
  endpoint.api_key = std::move(api_key);
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == authority.npos) return wrong("the address has no closing bracket");
    endpoint.host = authority.substr(1, close - 1);
    std::string_view after = authority.substr(close + 1);
    has_port = after.starts_with(':');
    if (!after.empty() && !has_port) return wrong("something other than a port follows the address");
    if (has_port) port = after.substr(1);
  } else {
    const size_t colon = authority.find(':');
    has_port = colon != authority.npos;
    endpoint.host = authority.substr(0, colon);
    if (has_port) port = authority.substr(colon + 1);
  }
  if (endpoint.host.empty()) return wrong("there is no host");
  if (!std::ranges::all_of(endpoint.host, is_host_character)) return wrong(fmt::format("'{}' is no host", endpoint.host));
  if (has_port) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc{} || end != port.data() + port.size() || endpoint.port == 0)
      return wrong(fmt::format("'{}' is no port from 1 to 65535", port));
  }
  if (!std::ranges::all_of(path, is_path_character)) return wrong("its path has characters that a path cannot have");
  endpoint.target = target_of(path);
  return endpoint;
}

}  // namespace teapot::workbench
