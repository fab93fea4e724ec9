// teapot bench: a server under the load of several users, by evalscope's protocol.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/bench_options.h"
#include "cli/bench_progress.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/own_path.h"
#include "cli/subcommands.h"

namespace teapot::cli {
namespace {

constexpr int kExitFailed = 1;  // a request failed, or the run is not complete

Result<int> bench(const BenchArguments& arguments) {
  TEAPOT_TRY(const std::string program, own_path());
  TEAPOT_TRY(const workbench::BenchOptions options, bench_options(arguments, program));
  const InterruptWatch interrupt;
  BenchProgress progress;
  TEAPOT_TRY(const workbench::BenchRun run, workbench::run_bench(options, progress.events(interrupt.flag())));
  const std::string text = workbench::to_text(run, isatty(STDOUT_FILENO) == 1);
  TEAPOT_TRY(const std::string folder, workbench::write_reports(run, arguments.outputs_dir));
  fmt::print("{}\nreports: {}\n", text, folder);
  if (std::fflush(stdout) != 0) return fail(ErrorKind::kIo, "the answer cannot be written");
  return run.clean() ? 0 : kExitFailed;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "Measure a server by evalscope's protocol: TTFT, TPOT, ITL at several numbers of users");
  add_bench_options(*command, *arguments);
  add_bench_matrix(*command, exit_code);
  add_bench_compare(*command, exit_code);
  refuse_options_before_subcommands(*command);
  command->callback([arguments, command, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    const auto code = bench(*arguments);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace teapot::cli
