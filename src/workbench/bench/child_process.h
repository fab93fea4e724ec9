// A program that runs for as long as the object lives, and what it says.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/error.h"

namespace teapot::workbench {

struct ChildOptions {
  std::vector<std::string> unset;        // variables that it does not inherit
  std::string log_file;                  // all that it says is appended there; empty: only the last lines are kept
  std::chrono::seconds end_timeout{45};  // from SIGTERM to SIGKILL; serve's own limit after SIGTERM is 40 s
};

class ChildProcess {
 public:
  // words: the program, looked for in PATH unless it has a slash, and its arguments. It gets a process group of its own, so that Ctrl-C
  // does not reach it: its end is ours to choose. When our own program ends, however it does, a supervisor ends it and all that came of
  // it (child_supervisor.h). A program that is not there ends at once, with exit code 127.
  // variables: names and values that go before those of our own environment.
  static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& words,
                                                     const std::vector<std::pair<std::string, std::string>>& variables = {},
                                                     const ChildOptions& options = {});
  // SIGTERM to its group, and SIGKILL if that is not enough.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Nothing while it runs; else how it ended: "exit code 2", "signal 9".
  std::string ended();
  // The last lines of its stdout and stderr.
  std::string log_tail() const;

 private:
  ChildProcess() = default;

  Status spawn(std::vector<std::string> words, std::vector<std::string> environment);
  void read_log();
  void order(char what) const;

  pid_t pid_ = -1, supervisor_ = -1;
  std::chrono::seconds end_timeout_{0};
  std::string ended_;
  int log_fd_ = -1, stop_fd_ = -1;  // stop_fd_: wakes the reader of a pipe that a grandchild keeps open
  int life_fd_ = -1;                // to the supervisor
  int file_fd_ = -1;                // log_file
  std::thread log_reader_;
  mutable std::mutex mutex_;
  std::string log_;  // guarded by mutex_
};

}  // namespace teapot::workbench
