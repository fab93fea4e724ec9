// teapot profile: spans of decode steps, as a table and as a trace.
#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "base/path_name.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/subcommands.h"
#include "engine/trace_json.h"
#include "workbench/bench/report_folder.h"
#include "workbench/profile.h"
#include "workbench/trace/import.h"
#include "workbench/trace/report_text.h"
#include "workbench/trace_cost.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  workbench::ProfileOptions profile;
  std::string out;
  uint32_t cost_pairs = 0;
};

// The trace read again, as `teapot profile import` does: one analysis for everybody's.
Result<std::string> classes_of(const std::string& trace) {
  TEAPOT_TRY(const auto rules, workbench::trace::Rules::create(nullptr, ""));
  const auto ranks = workbench::trace::import_traces({trace}, rules, {});
  if (!ranks) return fail(ErrorKind::kInternal, "{}", ranks.error().fault.message);
  return workbench::trace::to_text(*ranks, std::nullopt);
}

// Before a model is loaded for it. A profile that is there stays there.
Status make_folder(const std::filesystem::path& folder) {
  for (const char* name : {"profile.txt", "profile.json", "trace.json"}) {
    if (std::filesystem::exists(folder / name))
      return fail(ErrorKind::kInvalid, "{}: exists already; expected another folder as --out", (folder / name).string());
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", folder.string(), error.message());
  return {};
}

Status cost(const Arguments& arguments) {
  TEAPOT_TRY(const LoadedBackend loaded, load_backend(arguments.model, arguments.profile.load.drafts));
  workbench::TraceCostOptions options;
  options.load = arguments.profile.load;
  options.pairs = arguments.cost_pairs;
  TEAPOT_TRY(const workbench::TraceCost measured, workbench::measure_trace_cost(loaded.model, *loaded.backend, options));
  return write_out(workbench::to_text(measured));
}

Status profile(const Arguments& arguments) {
  if (arguments.model.model.empty()) return fail(ErrorKind::kInvalid, "model is required\nRun with --help for more.");
  if (arguments.cost_pairs > 0) return cost(arguments);
  const std::filesystem::path folder =
      arguments.out.empty() ? workbench::folder_name("profile_" + name_of_model(arguments.model.model)) : arguments.out;
  TEAPOT_CHECK(make_folder(folder));
  auto backend = load_backend(arguments.model, arguments.profile.load.drafts);
  if (!backend) {
    std::error_code not_empty;
    std::filesystem::remove(folder, not_empty);
    return std::unexpected(std::move(backend).error());
  }
  const LoadedBackend loaded = *std::move(backend);
  TEAPOT_TRY(const workbench::Profile measured, workbench::measure_profile(loaded.model, *loaded.backend, arguments.profile));
  TEAPOT_CHECK(write_file(folder / "profile.json", dump_json(workbench::to_json(measured)) + "\n"));
  engine::TraceFacts facts;
  facts.roof_gbps = measured.read_gbs;
  TEAPOT_CHECK(write_file(folder / "trace.json", engine::trace_json(*measured.recording, facts)));
  TEAPOT_TRY(const std::string classes, classes_of((folder / "trace.json").string()));
  const std::string text = workbench::to_text(measured) + "\n" + classes;
  TEAPOT_CHECK(write_file(folder / "profile.txt", text));
  TEAPOT_CHECK(write_out(text));
  log::info("the trace is {} (ui.perfetto.dev or chrome://tracing shows it)", (folder / "trace.json").string());
  return {};
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("profile", "Show where the time of decode steps goes: a table by op, a trace by thread");
  add_backend_options(*command, arguments->model);
  workbench::ProfileOptions& options = arguments->profile;
  command->add_option("-c,--concurrency", options.load.sequences, "Sequences of a step")->check(CLI::Range(1, 64))->capture_default_str();
  command->add_option("--prompt", options.load.prompt, "Tokens of each sequence before it decodes")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--drafts", options.load.drafts, "Drafts of each sequence in a step, verified beside its last token")
      ->check(CLI::Range(0u, engine::kMaxDrafts))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Steps that are recorded")
      ->check(CLI::Range(1u, engine::kMaxRecordedSteps))
      ->capture_default_str();
  command->add_option("--out", arguments->out,
                      "Folder for profile.txt, profile.json and trace.json (default: profile_ and the model's name)");
  command
      ->add_option("--cost", arguments->cost_pairs, "Measure instead what recording costs, in so many pairs of a recorded step and another")
      ->check(CLI::Range(2, 100'000))
      ->excludes("--out")
      ->excludes("--steps");
  // What a subcommand does not need is asked for by profile() itself.
  command->get_option("model")->required(false);
  const CLI::App* import = add_profile_import(*command, exit_code);
  refuse_options_before_subcommands(*command);
  command->callback([command, import, arguments, &exit_code] {
    if (command->got_subcommand(import)) return;
    if (const Status status = profile(*arguments); !status) exit_code = report(status.error());
  });
}

}  // namespace teapot::cli
