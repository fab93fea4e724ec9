// What a server says of itself, or is asked to do: one GET or POST, on a connection of its own.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "workbench/bench/endpoint.h"

namespace teapot::workbench {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// endpoint's target is what is asked for. kNotFound: no connection; kIo: the connection ended, or nothing came for so long; kInvalid:
// no HTTP, or a body of more than 16 MiB.
Result<HttpAnswer> http_get(const Endpoint& endpoint, std::chrono::milliseconds timeout);
// The same as a POST without a body.
Result<HttpAnswer> http_post(const Endpoint& endpoint, std::chrono::milliseconds timeout);

}  // namespace teapot::workbench
