#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace teapot::cli {
namespace {

// A signal handler can reach nothing but an object of static storage; it may run on any thread.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) { interrupted = true; }

}  // namespace

InterruptWatch::InterruptWatch() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

InterruptWatch::~InterruptWatch() { std::signal(SIGINT, SIG_DFL); }

const std::atomic<bool>& InterruptWatch::flag() const { return interrupted; }

bool InterruptWatch::take() { return interrupted.exchange(false); }

}  // namespace teapot::cli
