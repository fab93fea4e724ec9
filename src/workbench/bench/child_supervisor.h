// A small process between us and a program that we start: it ends the program and all that came of it when we are gone, however that
// happens (a closed pipe tells it), and passes on how the program ended.
#pragma once

#include <sys/types.h>

namespace teapot::workbench {

// What is written to life_fd's other end: the program's group gets SIGTERM or SIGKILL.
inline constexpr char kEndSupervised = 'T', kKillSupervised = 'K';

struct Supervised {
  char* const* arguments;
  char* const* environment;
  int log_fd;     // stdout and stderr of the program
  int life_fd;    // read here: orders; its end means that we are gone
  int report_fd;  // written here: the program's pid
};

// The rest of a forked child's life; makes system calls only. The program gets a process group of its own. When it ends, what it left
// behind gets SIGTERM and, soon after, SIGKILL, in its group or not; then this process ends in the same way as the program did.
[[noreturn]] void supervise(const Supervised& supervised);

}  // namespace teapot::workbench
