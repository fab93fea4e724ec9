// The server as a whole: opens the port, loads the model behind it, serves until it is told to stop.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "server/http.h"

namespace teapot::server {

struct ServeOptions {
  std::string model_path;
  std::string host = "127.0.0.1";
  uint16_t port = 8080;
  std::string port_file;                    // gets the port, as a line, once it is open; empty: none
  std::string api_key;                      // empty: none is asked for
  std::string served_name;                  // empty: the model path's last part
  std::chrono::milliseconds grace{30'000};  // for running requests after SIGTERM or SIGINT
  engine::EngineOptions engine;
  bool verbose = false;  // log what became of every switch, not only of those that are not as requested
  HttpLimits limits;
};

// Returns after a graceful stop; errors: the port, the model.
Status serve(const ServeOptions& options);

}  // namespace teapot::server
