#include "workbench/bench/serve_child.h"

#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "workbench/bench/http_get.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
constexpr std::chrono::seconds kEnd{45};  // serve's own limit after SIGTERM is 40 s
constexpr size_t kLogBytes = 64 * 1024;
constexpr size_t kShownLines = 20;

std::optional<uint16_t> read_port(const std::string& path) {
  const auto text = read_file(path);
  if (!text || !text->ends_with('\n')) return std::nullopt;
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size() - 1, port);
  if (error != std::errc{} || end != text->data() + text->size() - 1) return std::nullopt;
  return port;
}

// As exec wants them.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
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
  execve(arguments[0], arguments.data(), environment.data());
  const char* why = strerrordesc_np(errno);
  if (why == nullptr || write(STDERR_FILENO, why, std::strlen(why)) < 0) _exit(126);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<ServeChild>> ServeChild::start(const ServeChildOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "teapot-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return fail(ErrorKind::kIo, "{}: {}", folder, std::strerror(errno));
  const std::string port_file = folder + "/port";
  std::unique_ptr<ServeChild> child(new ServeChild);
  Status status = child->spawn(options, port_file);
  if (status) status = child->wait_until_ready(options, port_file);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!status) return std::unexpected(std::move(status).error());
  return child;
}

Status ServeChild::spawn(const ServeChildOptions& options, const std::string& port_file) {
  std::vector<std::string> words = {options.program, "serve", options.model, "--port", "0", "--port-file", port_file};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (options.api_key.empty() || !std::string_view(*variable).starts_with("TEAPOT_API_KEY=")) variables.emplace_back(*variable);
  }
  if (!options.api_key.empty()) variables.push_back("TEAPOT_API_KEY=" + options.api_key);  // an argument could be read by anybody
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);

  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "a pipe for the server's log: {}", std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(arguments, environment, pipe_ends[1], parent);
  const int error = errno;
  close(pipe_ends[1]);
  log_fd_ = pipe_ends[0];
  if (pid_ < 0) return fail(ErrorKind::kIo, "{} cannot be started: {}", options.program, std::strerror(error));
  setpgid(pid_, pid_);
  log_reader_ = std::thread([this] { read_log(); });
  endpoint_.host = "127.0.0.1";
  endpoint_.api_key = options.api_key;
  return {};
}

// The port opens before the model is loaded; until then /health is a 503.
Status ServeChild::wait_until_ready(const ServeChildOptions& options, const std::string& port_file) {
  const auto end = Clock::now() + options.ready_timeout;
  std::optional<uint16_t> port;
  while (true) {
    if (const std::string how = ended(); !how.empty()) {
      return fail(ErrorKind::kInvalid, "teapot serve {} has ended ({}) before it was ready:\n{}", options.model, how, log_tail());
    }
    if (options.stop != nullptr && *options.stop) return fail(ErrorKind::kBusy, "stopped before the server was ready");
    if (Clock::now() > end) {
      return fail(ErrorKind::kBusy, "teapot serve {} is not ready after {} s:\n{}", options.model, options.ready_timeout.count(),
                  log_tail());
    }
    if (!port && (port = read_port(port_file))) endpoint_.port = *port;
    if (port) {
      const auto health = http_get(endpoint_.with_target("/health"), std::chrono::seconds(10));
      if (health && health->status == 200) return {};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

void ServeChild::read_log() {
  char buffer[4096];
  while (true) {
    const ssize_t n = read(log_fd_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    const std::lock_guard lock(mutex_);
    log_.append(buffer, static_cast<size_t>(n));
    if (log_.size() > 2 * kLogBytes) log_.erase(0, log_.size() - kLogBytes);
  }
}

std::string ServeChild::log_tail() const {
  const std::lock_guard lock(mutex_);
  size_t start = log_.size();
  for (size_t lines = 0; lines <= kShownLines && start != std::string::npos && start > 0; ++lines) start = log_.rfind('\n', start - 1);
  return start == std::string::npos || start == 0 ? log_ : log_.substr(start + 1);
}

std::string ServeChild::ended() {
  if (!ended_.empty() || pid_ <= 0) return ended_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return "";
  ended_ = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit code {}", WEXITSTATUS(status));
  if (log_reader_.joinable()) log_reader_.join();  // all that it said is there now
  return ended_;
}

ServeChild::~ServeChild() {
  if (pid_ > 0 && ended().empty()) {
    kill(pid_, SIGTERM);
    const auto end = Clock::now() + kEnd;
    while (ended().empty() && Clock::now() < end) std::this_thread::sleep_for(kPoll);
    if (ended().empty()) {
      kill(pid_, SIGKILL);
      while (ended().empty()) std::this_thread::sleep_for(kPoll);
    }
  }
  if (log_reader_.joinable()) log_reader_.join();
  if (log_fd_ >= 0) close(log_fd_);
}

}  // namespace teapot::workbench
