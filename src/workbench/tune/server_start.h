// One start of a server by its catalogue: command, port, readiness, log, end.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "workbench/bench/child_process.h"
#include "workbench/bench/endpoint.h"
#include "workbench/tune/start_command.h"
#include "workbench/tune/step_values.h"
#include "workbench/tune/trials.h"

namespace teapot::workbench {

struct ServerStartOptions {
  const Catalogue* catalogue = nullptr;
  Placeholders placeholders;  // ports aside
  HostValues host;
  std::vector<uint32_t> parallel;
  std::string target = "/v1/chat/completions";
  const std::atomic<bool>* stop = nullptr;
};

// A server that runs for as long as the object lives.
class StartedServer {
 public:
  // Returns when it is ready, or has failed: fault() and what() say so. An error ends the session: no port, an unknown knob, `stop`.
  static Result<std::unique_ptr<StartedServer>> start(const ServerStartOptions& options, const KnobProfile& profile,
                                                      const std::string& log_file);

  TrialFault fault() const { return fault_; }
  const std::string& what() const { return what_; }
  const Endpoint& endpoint() const { return endpoint_; }
  const std::string& model() const { return model_; }  // its name in requests
  const KnobProfile& resolved() const { return resolved_; }
  double start_s() const { return start_s_; }
  Json started() const;  // {"args", "env", "log"}

  // What became of it, if requests failed: kCrash with how it ended and its last words, kHang where nothing came for too long, else
  // kRequests.
  void set_failed(const TurnFigures& figures);

  std::optional<std::string> get(const std::string& target) const;  // the body of a 200
  std::string log() const;
  std::optional<std::string> process_file(const std::string& name) const;  // of /proc/PID; task/*/NAME: of all its threads
  std::string version() const;                                             // as a page of it tells; empty: none does

 private:
  explicit StartedServer(const ServerStartOptions& options) : options_(options) {}

  Status wait_until_ready();
  std::string last_words() const;

  ServerStartOptions options_;
  KnobProfile resolved_;
  StartCommand command_;
  std::string log_file_;
  std::unique_ptr<ChildProcess> process_;
  Endpoint endpoint_;
  std::string model_;
  double start_s_ = 0;
  TrialFault fault_ = TrialFault::kNone;
  std::string what_;
};

// "SIGTERM, wait 30 s, SIGKILL" and "SIGTERM, 30 s, then SIGKILL": 30; 45 where nothing is said.
std::chrono::seconds end_timeout_of(std::string_view stop);
// "GET /health" and "/health (some words)": "/health"; empty: no such thing.
std::string target_of(std::string_view request);

}  // namespace teapot::workbench
