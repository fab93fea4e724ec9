#include "server/api_error.h"

#include "base/json.h"

namespace teapot::server {
namespace {

std::string_view type_of(unsigned status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 500:
      return "server_error";
    case 503:
      return "service_unavailable";
    default:
      return "invalid_request_error";
  }
}

}  // namespace

std::string error_body(const ApiError& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return dump_json(
      {{"error",
        {{"message", error.message}, {"type", type_of(error.status)}, {"param", or_null(error.param)}, {"code", or_null(error.code)}}}});
}

HttpReply error_reply(const ApiError& error) {
  HttpReply reply = json_reply(error.status, error_body(error));
  if (error.retry_after_s != 0) reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  if (error.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

}  // namespace teapot::server
