#include "workbench/bench/child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workbench/bench/child_supervisor.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
constexpr size_t kLogBytes = 64 * 1024;
constexpr size_t kShownLines = 20;

// As exec wants them.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables,
                                          const std::vector<std::string>& unset) {
  std::vector<std::string> all;
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const std::string_view name = std::string_view(*inherited).substr(0, std::string_view(*inherited).find('='));
    if (std::ranges::find(unset, name) != unset.end()) continue;
    if (std::ranges::find(variables, name, &std::pair<std::string, std::string>::first) == variables.end()) all.emplace_back(*inherited);
  }
  for (const auto& [name, value] : variables) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

void write_all(int file, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // a full disk doesn't hold the program up
    bytes += written;
    count -= static_cast<size_t>(written);
  }
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& words,
                                                          const std::vector<std::pair<std::string, std::string>>& variables,
                                                          const ChildOptions& options) {
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->end_timeout_ = options.end_timeout;
  child->stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (child->stop_fd_ < 0) return fail(ErrorKind::kIo, "an event for the log of {}: {}", words.front(), std::strerror(errno));
  if (!options.log_file.empty()) {
    child->file_fd_ = open(options.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (child->file_fd_ < 0) return fail(ErrorKind::kIo, "{}: cannot be opened: {}", options.log_file, std::strerror(errno));
  }
  TEAPOT_CHECK(child->spawn(words, environment_with(variables, options.unset)));
  child->log_reader_ = std::thread([reader = child.get()] { reader->read_log(); });
  return child;
}

Status ChildProcess::spawn(std::vector<std::string> words, std::vector<std::string> environment) {
  const std::vector<char*> argument_pointers = pointers(words), environment_pointers = pointers(environment);
  int log[2] = {-1, -1}, life[2] = {-1, -1}, report[2] = {-1, -1};
  bool good = true;
  for (int* pipe_ends : {log, report}) good = good && pipe2(pipe_ends, O_CLOEXEC) == 0;
  good = good && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life) == 0;
  if (good) {
    supervisor_ = fork();
    if (supervisor_ == 0) supervise({argument_pointers.data(), environment_pointers.data(), log[1], life[0], report[1]});
  }
  const int error = errno;
  for (const int end : {log[1], life[0], report[1]}) {
    if (end >= 0) close(end);
  }
  log_fd_ = log[0];
  life_fd_ = life[1];
  const bool told = good && supervisor_ > 0 && read(report[0], &pid_, sizeof pid_) == sizeof pid_ && pid_ > 0;
  if (report[0] >= 0) close(report[0]);
  if (told) return {};
  if (supervisor_ > 0) waitpid(supervisor_, nullptr, 0);
  supervisor_ = pid_ = -1;
  return fail(ErrorKind::kIo, "{} cannot be started: {}", words.front(), std::strerror(error));
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
    if (file_fd_ >= 0) write_all(file_fd_, buffer, static_cast<size_t>(n));
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
  if (!ended_.empty() || supervisor_ <= 0) return ended_;
  int status = 0;
  if (waitpid(supervisor_, &status, WNOHANG) != supervisor_) return "";
  ended_ = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit code {}", WEXITSTATUS(status));
  eventfd_write(stop_fd_, 1);
  if (log_reader_.joinable()) log_reader_.join();  // all that it said is there now
  return ended_;
}

// The supervisor may be gone already: that is no reason for a signal.
void ChildProcess::order(char what) const { send(life_fd_, &what, 1, MSG_NOSIGNAL); }

ChildProcess::~ChildProcess() {
  if (supervisor_ > 0 && ended().empty()) {
    order(kEndSupervised);
    const auto end = Clock::now() + end_timeout_;
    while (ended().empty() && Clock::now() < end) std::this_thread::sleep_for(kPoll);
    if (ended().empty()) order(kKillSupervised);
    while (ended().empty()) std::this_thread::sleep_for(kPoll);
  }
  for (const int file : {log_fd_, stop_fd_, life_fd_, file_fd_}) {
    if (file >= 0) close(file);
  }
}

}  // namespace teapot::workbench
