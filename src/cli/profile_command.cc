// teapot profile: spans of decode steps, as a table and as a trace.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "workbench/profile.h"
#include "workbench/trace/import.h"
#include "workbench/trace/report_text.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  workbench::ProfileOptions profile;
  std::string out;
};

// The trace read again, as `teapot profile import` does: one analysis for everybody's.
Result<std::string> classes_of(const std::string& trace) {
  TEAPOT_TRY(const auto rules, workbench::trace::Rules::create(nullptr, ""));
  const auto ranks = workbench::trace::import_traces({trace}, rules, {});
  if (!ranks) return fail(ErrorKind::kInternal, "{}", ranks.error().fault.message);
  return workbench::trace::to_text(*ranks, std::nullopt);
}

Status profile(const Arguments& arguments) {
  if (arguments.model.model.empty()) return fail(ErrorKind::kInvalid, "model is required\nRun with --help for more.");
  if (arguments.out.empty()) return fail(ErrorKind::kInvalid, "--out is required\nRun with --help for more.");
  std::error_code error;
  std::filesystem::create_directories(arguments.out, error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", arguments.out, error.message());
  TEAPOT_TRY(const LoadedBackend loaded, load_backend(arguments.model, arguments.profile.drafts));
  TEAPOT_TRY(const workbench::Profile measured, workbench::measure_profile(loaded.model, *loaded.backend, arguments.profile));
  const std::filesystem::path folder(arguments.out);
  TEAPOT_CHECK(write_file(folder / "profile.json", dump_json(workbench::to_json(measured)) + "\n"));
  TEAPOT_CHECK(write_file(folder / "trace.json", dump_json(workbench::chrome_trace(measured)) + "\n"));
  TEAPOT_TRY(const std::string classes, classes_of((folder / "trace.json").string()));
  const std::string text = workbench::to_text(measured) + "\n" + classes;
  TEAPOT_CHECK(write_file(folder / "profile.txt", text));
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
  command->add_option("--drafts", options.drafts, "Drafts of each sequence in a step, verified beside its last token")
      ->check(CLI::Range(0u, engine::kMaxDrafts))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Steps that are recorded")->check(CLI::Range(1, 10'000))->capture_default_str();
  command->add_option("--out", arguments->out, "Folder for profile.txt, profile.json and trace.json; required");
  // What a subcommand does not need is asked for by profile() itself.
  command->get_option("model")->required(false);
  const CLI::App* import = add_profile_import(*command, exit_code);
  command->callback([command, import, arguments, &exit_code] {
    if (command->got_subcommand(import)) return;
    if (const Status status = profile(*arguments); !status) exit_code = report(status.error());
  });
}

}  // namespace teapot::cli
