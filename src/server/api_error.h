// An error as OpenAI's clients expect it: an HTTP status and {"error": {message, type, param, code}}.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/error.h"
#include "server/http.h"

namespace teapot::server {

struct ApiError {
  unsigned status = 400;
  std::string message;
  std::string param;  // the field at fault, "messages[2].content"; empty: none
  std::string code;   // "context_length_exceeded"; empty: none
  unsigned retry_after_s = 0;
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

// {"error": {...}} with the type that belongs to the status.
std::string error_body(const ApiError& error);
HttpReply error_reply(const ApiError& error);

[[nodiscard]] inline std::unexpected<ApiError> bad_field(std::string param, std::string message) {
  return std::unexpected(ApiError{400, std::move(message), std::move(param), "", 0});
}

}  // namespace teapot::server
