#include "workbench/bench/child_process.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
constexpr std::chrono::seconds kEnd{45};  // serve's own limit after SIGTERM is 40 s
constexpr size_t kLogBytes = 64 * 1024;
constexpr size_t kShownLines = 20;

// As exec wants them.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const std::string_view name = std::string_view(*inherited).substr(0, std::string_view(*inherited).find('='));
    if (std::ranges::find(variables, name, &std::pair<std::string, std::string>::first) == variables.end()) all.emplace_back(*inherited);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

// In the child, between fork and exec: system calls only.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment, int log_fd, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it went away before it could be watched
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(log_fd, STDOUT_FILENO);
  dup2(log_fd, STDERR_FILENO);
  execvpe(arguments[0], arguments.data(), environment.data());
  const char* why = strerrordesc_np(errno);
  if (why == nullptr || write(STDERR_FILENO, why, std::strlen(why)) < 0) _exit(126);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& words,
                                                          const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> copies = words, all_variables = environment_with(variables);
  const std::vector<char*> arguments = pointers(copies), environment = pointers(all_variables);

  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->stop_fd_ = eventfd(0, EFD_CLOEXEC);
  int pipe_ends[2];
  if (child->stop_fd_ < 0 || pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return fail(ErrorKind::kIo, "a pipe for the log of {}: {}", words.front(), std::strerror(errno));
  }
  const pid_t parent = getpid();
  child->pid_ = fork();
  if (child->pid_ == 0) become(arguments, environment, pipe_ends[1], parent);
  const int error = errno;
  close(pipe_ends[1]);
  child->log_fd_ = pipe_ends[0];
  if (child->pid_ < 0) return fail(ErrorKind::kIo, "{} cannot be started: {}", words.front(), std::strerror(error));
  setpgid(child->pid_, child->pid_);
  child->log_reader_ = std::thread([reader = child.get()] { reader->read_log(); });
  return child;
}

void ChildProcess::read_log() {
  char buffer[4096];
  pollfd waiting[2] = {{.fd = log_fd_, .events = POLLIN, .revents = 0}, {.fd = stop_fd_, .events = POLLIN, .revents = 0}};
  while (true) {
    if (poll(waiting, 2, -1) < 0 && errno != EINTR) return;
    if (waiting[0].revents == 0 && waiting[1].revents != 0) return;  // all that was there has been read
    if (waiting[0].revents == 0) continue;
    const ssize_t n = read(log_fd_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    const std::lock_guard lock(mutex_);
    log_.append(buffer, static_cast<size_t>(n));
    if (log_.size() > 2 * kLogBytes) log_.erase(0, log_.size() - kLogBytes);
  }
}

std::string ChildProcess::log_tail() const {
  const std::lock_guard lock(mutex_);
  size_t start = log_.size();
  for (size_t lines = 0; lines <= kShownLines && start != std::string::npos && start > 0; ++lines) start = log_.rfind('\n', start - 1);
  return start == std::string::npos || start == 0 ? log_ : log_.substr(start + 1);
}

std::string ChildProcess::ended() {
  if (!ended_.empty() || pid_ <= 0) return ended_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return "";
  ended_ = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit code {}", WEXITSTATUS(status));
  eventfd_write(stop_fd_, 1);
  if (log_reader_.joinable()) log_reader_.join();  // all that it said is there now
  return ended_;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && ended().empty()) {
    kill(-pid_, SIGTERM);
    const auto end = Clock::now() + kEnd;
    while (ended().empty() && Clock::now() < end) std::this_thread::sleep_for(kPoll);
    if (ended().empty()) {
      kill(-pid_, SIGKILL);
      while (ended().empty()) std::this_thread::sleep_for(kPoll);
    }
  }
  if (log_fd_ >= 0) close(log_fd_);
  if (stop_fd_ >= 0) close(stop_fd_);
}

}  // namespace teapot::workbench
