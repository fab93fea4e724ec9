// Decode steps make no system call but those by which threads sleep and wake (design section 4): a filter ends the process at any other.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "cpu/backend.h"
#include "cpu/tiny_model.h"

namespace teapot::cpu {
namespace {

constexpr int kFilterRefused = 77;

// For all threads of the process, from now on. A call that is not allowed raises SIGSYS.
bool allow_only_futex_and_exit() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

// Ends the process: 0 when the steps went through, 1 when they failed.
void run_filtered_steps() {
  const TinyModel model(plan::WeightType::kQ8_0);
  const auto backend = create_backend({.threads = 2, .bind = "off"});
  if (!backend || !(*backend)->load(model.table, model.layout, {})) _exit(1);
  const auto plan = (*backend)->prepare(model.plan(2));
  if (!plan) _exit(1);
  plan::StepPacket packet{{1, 2}, {{*(*backend)->open_slot(64), 0, 1, 0}, {*(*backend)->open_slot(64), 1, 1, 0}}, {}};
  packet.returns = {plan::RowReturn::kArgmax, plan::RowReturn::kLogits};
  plan::StepResult result;
  for (uint32_t position = 0; position < 40; ++position) {
    packet.sequences[0].position = packet.sequences[1].position = position;
    if (position == 4 && !allow_only_futex_and_exit()) _exit(kFilterRefused);
    if (!(*backend)->run(*plan, packet, result)) _exit(1);
    if ((*backend)->shares().waiting > 1) _exit(1);
    packet.tokens.assign({result.argmax[0], result.argmax[1]});
  }
  _exit(0);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // the sanitizers make calls of their own
#else
constexpr bool kSanitized = false;
#endif

TEST(SystemCallDeathTest, DecodeStepsMakeNone) {
  if (kSanitized) GTEST_SKIP() << "sanitizers make system calls";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto done_or_refused = [](int status) {
    if (WIFSIGNALED(status)) std::fprintf(stderr, "ended by signal %d: a system call was made\n", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == kFilterRefused)
      std::fprintf(stderr, "seccomp is not permitted here: nothing was checked\n");
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kFilterRefused);
  };
  EXPECT_EXIT(run_filtered_steps(), done_or_refused, "");
}

}  // namespace
}  // namespace teapot::cpu
