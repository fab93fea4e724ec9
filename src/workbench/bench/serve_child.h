// A `teapot serve` of our own, for as long as the object lives.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/bench/child_process.h"
#include "workbench/bench/endpoint.h"

namespace teapot::workbench {

struct ServeChildOptions {
  std::string program;                          // path of teapot
  std::string model;                            // what it is to serve
  std::vector<std::string> arguments;           // more of its options
  std::string api_key;                          // that it asks for, too
  std::chrono::seconds ready_timeout{60 * 60};  // large models take their time; one that ends is noticed at once
  const std::atomic<bool>* stop = nullptr;      // set: waiting ends
};

class ServeChild {
 public:
  // On a free port of the loopback; returns when the model is ready. Errors end in what the child said last. It lives as a ChildProcess
  // does: with our own program at most.
  static Result<std::unique_ptr<ServeChild>> start(const ServeChildOptions& options);

  const Endpoint& endpoint() const { return endpoint_; }
  pid_t pid() const { return process_->pid(); }
  // Nothing while it runs; else how it ended: "exit code 2", "signal 9".
  std::string ended() { return process_->ended(); }
  // The last lines of its log.
  std::string log_tail() const { return process_->log_tail(); }

 private:
  ServeChild() = default;

  Status spawn(const ServeChildOptions& options, const std::string& port_file);
  Status wait_until_ready(const ServeChildOptions& options, const std::string& port_file);

  Endpoint endpoint_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace teapot::workbench
