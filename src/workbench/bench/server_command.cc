#include "workbench/bench/server_command.h"

#include <thread>

#include "workbench/bench/http_get.h"

namespace teapot::workbench {

Result<std::unique_ptr<ChildProcess>> start_server(const MatrixServer& server, const std::atomic<bool>* stop) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPoll{50}, kAnswer{10'000};
  TEAPOT_TRY(const Endpoint endpoint, parse_endpoint(server.url));
  const Endpoint health = endpoint.with_target(server.health);
  if (const auto answer = http_get(health, kAnswer)) {
    return fail(ErrorKind::kInvalid, "{}: something answers at {} before the command is started", server.name, health.url());
  }
  TEAPOT_TRY(std::unique_ptr<ChildProcess> process, ChildProcess::start(server.command));
  const auto end = Clock::now() + server.start_timeout;
  while (true) {
    if (const std::string how = process->ended(); !how.empty()) {
      return fail(ErrorKind::kInvalid, "{}: {} has ended ({}) before it was ready:\n{}", server.name, server.command.front(), how,
                  process->log_tail());
    }
    if (stop != nullptr && *stop) return fail(ErrorKind::kBusy, "{}: stopped before the server was ready", server.name);
    if (Clock::now() > end) {
      return fail(ErrorKind::kBusy, "{}: {} does not answer 200 after {} s:\n{}", server.name, health.url(), server.start_timeout.count(),
                  process->log_tail());
    }
    const auto answer = http_get(health, kAnswer);
    if (answer && answer->status == 200) return process;
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace teapot::workbench
