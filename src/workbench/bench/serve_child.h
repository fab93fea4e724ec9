// A `teapot serve` of our own, for as long as the object lives.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
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
  // On a free port of the loopback; returns when the model is ready. Errors end in what the child said last. The child dies with the
  // thread that calls this (however that ends), so let it be one that outlives the object. Ctrl-C does not reach it: its end is ours to
  // choose.
  static Result<std::unique_ptr<ServeChild>> start(const ServeChildOptions& options);
  // SIGTERM, and SIGKILL if that is not enough.
  ~ServeChild();
  ServeChild(const ServeChild&) = delete;
  ServeChild& operator=(const ServeChild&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }
  pid_t pid() const { return pid_; }
  // Nothing while it runs; else how it ended: "exit code 2", "signal 9".
  std::string ended();
  // The last lines of its log.
  std::string log_tail() const;

 private:
  ServeChild() = default;

  Status spawn(const ServeChildOptions& options, const std::string& port_file);
  Status wait_until_ready(const ServeChildOptions& options, const std::string& port_file);
  void read_log();

  Endpoint endpoint_;
  pid_t pid_ = -1;
  std::string ended_;
  int log_fd_ = -1;
  std::thread log_reader_;
  mutable std::mutex mutex_;
  std::string log_;  // guarded by mutex_
};

}  // namespace teapot::workbench
