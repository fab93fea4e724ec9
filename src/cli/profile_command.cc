// teapot profile: spans of decode steps, as a table and as a trace.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/progress.h"
#include "workbench/profile.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  workbench::ProfileOptions profile;
  std::string out;
};

Status profile(const Arguments& arguments) {
  std::error_code error;
  std::filesystem::create_directories(arguments.out, error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", arguments.out, error.message());
  TEAPOT_TRY(const model::Model model, model::load_model(arguments.model.model, arguments.model.engine.weights));
  for (const std::string& note : model.notes) log::info("{}", note);
  TEAPOT_TRY(const auto backend, cpu::create_backend(arguments.model.engine.backend));
  for (const std::string& note : backend->notes()) log::info("{}", note);
  std::optional<ProgressBar> bar(std::in_place, "loading");
  TEAPOT_CHECK(backend->load(model.weights, model.layout, [&](uint64_t done, uint64_t total) { bar->update(done, total); }));
  bar.reset();
  print_switches(model.switches, arguments.model.verbose);
  print_switches(backend->switches(), arguments.model.verbose);
  TEAPOT_TRY(const workbench::Profile measured, workbench::measure_profile(model, *backend, arguments.profile));
  const std::string text = workbench::to_text(measured);
  const std::filesystem::path folder(arguments.out);
  TEAPOT_CHECK(write_file(folder / "profile.txt", text));
  TEAPOT_CHECK(write_file(folder / "profile.json", dump_json(workbench::to_json(measured)) + "\n"));
  TEAPOT_CHECK(write_file(folder / "trace.json", dump_json(workbench::chrome_trace(measured.traces)) + "\n"));
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return fail(ErrorKind::kIo, "the answer cannot be written");
  }
  log::info("the trace is {} (ui.perfetto.dev or chrome://tracing shows it)", (folder / "trace.json").string());
  return {};
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("profile", "Show where the time of decode steps goes: a table by op, a trace by thread");
  add_backend_options(*command, arguments->model);
  workbench::ProfileOptions& options = arguments->profile;
  command->add_option("-c,--concurrency", options.sequences, "Sequences of a step")->check(CLI::Range(1, 64))->capture_default_str();
  command->add_option("--prompt", options.prompt, "Tokens of each sequence before it decodes")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Steps that are recorded")->check(CLI::Range(1, 10'000))->capture_default_str();
  command->add_option("--out", arguments->out, "Folder for profile.txt, profile.json and trace.json")->required();
  command->callback([arguments, &exit_code] {
    if (const Status status = profile(*arguments); !status) exit_code = report(status.error());
  });
}

}  // namespace teapot::cli
