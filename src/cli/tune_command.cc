// teapot tune: which settings of a server make it faster, measured.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/lever_catalogue.h"
#include "cli/own_path.h"
#include "cli/progress.h"
#include "cli/subcommands.h"
#include "cli/tune_options.h"
#include "workbench/tune/reports.h"

namespace teapot::cli {
namespace {

constexpr int kExitFailed = 1;  // no answer: interrupted, hopeless, A differs from itself

std::string time_left(const workbench::SearchResult& so_far) {
  if (so_far.pairs == 0 || so_far.budget_pairs <= so_far.pairs) return "";
  const double seconds = so_far.elapsed_s / so_far.pairs * (so_far.budget_pairs - so_far.pairs);
  return seconds < 90 ? fmt::format(", at most {:.0f} s left", seconds) : fmt::format(", at most {:.0f} min left", seconds / 60);
}

Status print_session(const workbench::TuneSession& session, bool json) {
  if (!json) return write_out(to_text(session, isatty(STDOUT_FILENO) == 1));
  TEAPOT_TRY(const Json result, workbench::result_json(session));
  return write_out(dump_json(result) + "\n");
}

Status print_folder(const workbench::TuneSession& session) { return write_out("  reports    " + session.folder + "\n"); }

Result<int> go_on(const std::string& folder, bool json) {
  const InterruptWatch interrupt;
  workbench::SearchEvents events;
  std::unique_ptr<ProgressBar> bar;
  events.note = [&](const std::string& text) {
    bar.reset();
    log::info("{}", text);
  };
  events.progress = [&](const workbench::SearchResult& so_far, const std::string& now) {
    if (!bar) bar = std::make_unique<ProgressBar>("tune");
    const bool known = so_far.budget_pairs > 0;  // how many fit into the time
    const double share = known ? std::min(1.0, static_cast<double>(so_far.pairs) / so_far.budget_pairs) : 0;
    const std::string of = known ? fmt::format(" of {}", so_far.budget_pairs) : "";
    bar->update(share, fmt::format("{}{} pairs{}: {}", so_far.pairs, of, time_left(so_far), now));
  };
  TEAPOT_TRY(const workbench::TuneSession session, workbench::run_session(folder, events, &interrupt.flag()));
  bar.reset();
  TEAPOT_CHECK(print_session(session, json));
  TEAPOT_CHECK(workbench::write_tune_reports(session));
  if (!json) TEAPOT_CHECK(print_folder(session));
  if (session.result.end == workbench::SearchEnd::kInterrupted) log::info("teapot tune resume {} goes on", folder);
  return session.result.end == workbench::SearchEnd::kDone ? 0 : kExitFailed;
}

Result<int> run(TuneArguments arguments, bool json) {
  if (arguments.catalogue.empty()) {
    return fail(ErrorKind::kInvalid, "--catalogue: expected a YAML file, or one of {}", fmt::join(catalogue_names(), ", "));
  }
  TEAPOT_TRY(const workbench::CatalogueText text, open_catalogue(arguments.catalogue));
  TEAPOT_TRY(const workbench::Catalogue catalogue, workbench::parse_catalogue(text.yaml, text.source));
  if (arguments.out.empty()) arguments.out = "tune_" + catalogue.server;
  TEAPOT_TRY(const std::string program, own_path());
  TEAPOT_TRY(Json host, workbench::host_fingerprint());
  TEAPOT_TRY(workbench::TuneSettings settings, tune_settings(arguments, catalogue, std::move(host), program));
  TEAPOT_TRY(settings.search.host, workbench::read_host_values());
  TEAPOT_CHECK(workbench::check(catalogue, settings.search));
  TEAPOT_CHECK(workbench::check_base(catalogue, settings));
  TEAPOT_CHECK(workbench::begin_session(arguments.out, settings, text));
  return go_on(arguments.out, json);
}

struct Shown {
  std::string folder, knob, catalogue;
  bool json = false;
  uint16_t port = 8000;
};

Status show(const Shown& shown) {
  TEAPOT_TRY(const workbench::TuneSession session, workbench::read_session(shown.folder));
  TEAPOT_CHECK(print_session(session, shown.json));
  const bool reports = std::filesystem::exists(session.folder + "/report.html");
  return reports && !shown.json ? print_folder(session) : Status();
}

Status write_reports(const Shown& shown) {
  TEAPOT_TRY(const workbench::TuneSession session, workbench::read_session(shown.folder));
  TEAPOT_CHECK(workbench::write_tune_reports(session));
  return write_out(fmt::format("{0}/report.html\n{0}/result.json\n{0}/ledger.sqlite\n", shown.folder));
}

Status write_scripts(const Shown& shown) {
  TEAPOT_TRY(const workbench::TuneSession session, workbench::read_session(shown.folder));
  TEAPOT_TRY(const std::vector<std::string> files, workbench::export_profiles(session, shown.port));
  if (session.result.confirmed() == nullptr) log::warn("{}: winner.sh starts the base", claim_text(session.result));
  return write_out(fmt::format("{}\n", fmt::join(files, "\n")));
}

Status why(const Shown& shown) {
  if (shown.folder.empty() == shown.catalogue.empty()) {
    return fail(ErrorKind::kInvalid, "found {}; expected the folder of a session, or --catalogue",
                shown.folder.empty() ? "neither" : "both");
  }
  workbench::TuneSession session;
  if (shown.folder.empty()) {
    TEAPOT_TRY(const workbench::CatalogueText text, open_catalogue(shown.catalogue));
    TEAPOT_TRY(session.catalogue, workbench::parse_catalogue(text.yaml, text.source));
  } else {
    TEAPOT_TRY(session, workbench::read_session(shown.folder));
  }
  const workbench::Knob* knob = session.catalogue.find(shown.knob);
  if (knob == nullptr) return fail(ErrorKind::kNotFound, "{}", session.catalogue.no_knob(shown.knob));
  return write_out(workbench::why_text(session.catalogue, *knob, shown.folder.empty() ? nullptr : &session));
}

// A subcommand on the folder of a session.
CLI::App* add_reader(CLI::App& tune, const std::string& name, const std::string& what, const std::shared_ptr<Shown>& shown,
                     Status (*act)(const Shown&), int& exit_code) {
  CLI::App* command = tune.add_subcommand(name, what);
  command->callback([shown, act, &exit_code] {
    const Status status = act(*shown);
    exit_code = status ? 0 : report(status.error());
  });
  return command;
}

void add_readers(CLI::App& tune, int& exit_code) {
  const auto shown = std::make_shared<Shown>();
  CLI::App* command = add_reader(tune, "show", "What a session has found, or has found so far", shown, show, exit_code);
  command->add_option("DIR", shown->folder, "Its folder")->required();
  command->add_flag("--json", shown->json, "The result as one JSON object");
  command = add_reader(tune, "report", "Write a session's reports anew", shown, write_reports, exit_code);
  command->add_option("DIR", shown->folder, "Its folder")->required();
  command = add_reader(tune, "export", "Write start scripts and environment files of the winner and of the simplest profile", shown,
                       write_scripts, exit_code);
  command->add_option("DIR", shown->folder, "The session's folder")->required();
  command->add_option("--port", shown->port, "That the scripts start the server on")->capture_default_str();
  command =
      add_reader(tune, "why", "All that is known of a knob: its catalogue's words, and what a session measured", shown, why, exit_code);
  command->add_option("KNOB", shown->knob, "Its name")->required();
  command->add_option("DIR", shown->folder, "The session's folder");
  command->add_option("--catalogue", shown->catalogue, "Instead of a session: a catalogue");
}

void add_run(CLI::App& command, const std::shared_ptr<TuneArguments>& arguments, const std::shared_ptr<bool>& json, int& exit_code) {
  add_tune_options(command, *arguments);
  command.add_flag("--json", *json, "The result as one JSON object");
  command.callback([&command, arguments, json, &exit_code] {
    if (!command.get_subcommands().empty()) return;
    const auto code = run(*arguments, *json);
    exit_code = code ? *code : report(code.error());
  });
}

void add_resume(CLI::App& tune, const std::shared_ptr<bool>& json, int& exit_code) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* command = tune.add_subcommand("resume", "Go on with a session that was interrupted, or killed");
  command->add_option("DIR", *folder, "Its folder")->required();
  command->add_flag("--json", *json, "The result as one JSON object");
  command->callback([folder, json, &exit_code] {
    const auto code = go_on(*folder, *json);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<TuneArguments>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("tune", "Find the settings of a server that make it faster");
  command->require_subcommand(0, 1);
  add_run(*command, arguments, json, exit_code);
  add_resume(*command, json, exit_code);
  add_readers(*command, exit_code);
  add_tune_check(*command, exit_code);
  refuse_options_before_subcommands(*command);
  add_run(*command->add_subcommand("run", "The same as without a subcommand"), arguments, json, exit_code);
}

}  // namespace teapot::cli
