// teapot bench matrix: several servers under the same loads, as one table.
#include <filesystem>
#include <memory>

#include "cli/bench_progress.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/own_path.h"
#include "workbench/bench/matrix.h"
#include "workbench/bench/report_folder.h"
#include "workbench/bench/server_command.h"

namespace teapot::cli {
namespace {

constexpr int kExitFailed = 1;  // a cell is not whole

struct Arguments {
  std::string file;
  std::string outputs_dir = "outputs";
  bool json = false;
};

Result<int> matrix(const Arguments& arguments) {
  TEAPOT_TRY(const workbench::MatrixPlan plan, workbench::read_matrix_plan(arguments.file));
  workbench::MatrixTools tools;
  TEAPOT_TRY(tools.program, own_path());
  const InterruptWatch interrupt;
  BenchProgress progress;
  tools.bench = [&](const workbench::BenchOptions& options) { return workbench::run_bench(options, progress.events(interrupt.flag())); };
  tools.start = [&](const workbench::MatrixServer& server) -> Result<std::shared_ptr<void>> {
    TEAPOT_TRY(std::unique_ptr<workbench::ChildProcess> process, workbench::start_server(server, &interrupt.flag()));
    return std::shared_ptr<void>(std::move(process));
  };
  workbench::MatrixEvents events;
  events.note = [&](const std::string& text) { progress.note(text); };
  events.stop = &interrupt.flag();

  const std::string folder = std::filesystem::path(arguments.outputs_dir) / workbench::folder_name(plan.name);
  TEAPOT_TRY(const workbench::Matrix measured, workbench::run_matrix(plan, folder, tools, events));
  const std::string text = arguments.json ? dump_json(workbench::to_json(measured)) + "\n"
                                          : fmt::format("{}\nreports: {}\n", workbench::to_text(measured), folder);
  TEAPOT_CHECK(write_out(text));
  return measured.clean() ? 0 : kExitFailed;
}

}  // namespace

void add_bench_matrix(CLI::App& bench, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = bench.add_subcommand("matrix", "Measure several servers under the same loads, beside a control");
  command->add_option("file", arguments->file, "YAML: servers, loads, numbers of users")->required();
  command->add_option("--outputs-dir", arguments->outputs_dir, "Where the matrix's folder is; cells that it has are not measured again")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print one JSON object instead of the table");
  command->callback([arguments, &exit_code] {
    const auto code = matrix(*arguments);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace teapot::cli
