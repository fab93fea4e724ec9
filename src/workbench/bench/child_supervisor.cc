#include "workbench/bench/child_supervisor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace teapot::workbench {
namespace {

constexpr int kAloneGraceMs = 5000;  // from SIGTERM to SIGKILL when we are gone
constexpr int kLeftGraceMs = 2000;   // the same for what an ended program left behind
constexpr int kPollMs = 10;

int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Only what is needed stays open: a pipe's end that is kept here would never close.
void keep_open_only(std::array<int, 3> files) {
  std::ranges::sort(files);
  unsigned from = 3;
  for (const int file : files) {
    const auto kept = static_cast<unsigned>(file);
    if (kept > from) close_range(from, kept - 1, 0);
    from = std::max(from, kept + 1);
  }
  close_range(from, ~0U, 0);
}

[[noreturn]] void become(const Supervised& supervised, pid_t supervisor) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGCHLD, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(supervised.log_fd, STDOUT_FILENO);
  dup2(supervised.log_fd, STDERR_FILENO);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execvpe(supervised.arguments[0], supervised.arguments, supervised.environment);
  const char* why = strerrordesc_np(errno);
  if (why == nullptr || write(STDERR_FILENO, why, std::strlen(why)) < 0) _exit(126);
  _exit(127);
}

// Our children: whatever lost its parent comes to us. Nothing where the kernel doesn't tell.
void signal_children(int number) {
  const int file = open("/proc/thread-self/children", O_RDONLY);
  if (file < 0) return;
  std::array<char, 4096> text;
  const ssize_t bytes = read(file, text.data(), text.size());
  close(file);
  pid_t pid = 0;
  for (ssize_t i = 0; i < bytes; ++i) {
    const char byte = text[static_cast<size_t>(i)];
    if (byte >= '0' && byte <= '9') {
      pid = pid * 10 + (byte - '0');
    } else {
      if (pid > 0) kill(pid, number);
      pid = 0;
    }
  }
}

// Until nothing is left of what the program started.
void end_what_is_left(pid_t group) {
  const int64_t end = now_ms() + kLeftGraceMs;
  int number = SIGTERM;
  while (true) {
    pid_t reaped;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) continue;
    const bool no_children = reaped < 0;
    if (no_children && kill(-group, 0) != 0) return;
    const bool over = now_ms() > end;
    if (number != 0 || over) {
      kill(-group, over ? SIGKILL : number);
      signal_children(over ? SIGKILL : number);
      number = 0;
    }
    if (now_ms() > end + kLeftGraceMs) return;  // what even SIGKILL doesn't end
    poll(nullptr, 0, kPollMs);
  }
}

[[noreturn]] void end_as(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  kill(getpid(), number);
  _exit(128 + number);
}

}  // namespace

void supervise(const Supervised& supervised) {
  setpgid(0, 0);
  keep_open_only({supervised.log_fd, supervised.life_fd, supervised.report_fd});
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all, waiting;
  sigfillset(&all);
  sigfillset(&waiting);
  sigdelset(&waiting, SIGCHLD);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  struct sigaction wake{};
  wake.sa_handler = [](int) {};
  sigaction(SIGCHLD, &wake, nullptr);  // it interrupts the wait below, and nothing else

  const pid_t self = getpid(), program = _Fork();
  if (program == 0) become(supervised, self);
  if (write(supervised.report_fd, &program, sizeof program) != sizeof program || program < 0) _exit(126);
  const int null = open("/dev/null", O_RDWR);
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, file);
  keep_open_only({supervised.life_fd, supervised.life_fd, supervised.life_fd});

  int64_t kill_at = 0;  // 0: we are not alone
  int status = 0;
  while (waitpid(program, &status, WNOHANG) == 0) {
    pollfd life{.fd = kill_at == 0 ? supervised.life_fd : -1, .events = POLLIN, .revents = 0};
    const int64_t left = std::max<int64_t>(0, kill_at - now_ms());
    const timespec patience{.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1'000'000};
    const int ready = ppoll(&life, 1, kill_at == 0 ? nullptr : &patience, &waiting);
    if (ready < 0) continue;
    if (ready == 0) {
      kill(-program, SIGKILL);
      kill_at = now_ms() + kAloneGraceMs;
      continue;
    }
    char order = 0;
    const ssize_t bytes = read(supervised.life_fd, &order, 1);
    if (bytes == 1) {
      kill(-program, order == kKillSupervised ? SIGKILL : SIGTERM);
    } else if (bytes == 0) {
      kill(-program, SIGTERM);
      kill_at = now_ms() + kAloneGraceMs;
    }
  }
  end_what_is_left(program);
  end_as(status);
}

}  // namespace teapot::workbench
