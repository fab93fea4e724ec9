// teapot ladder: what each lever brings, one after the other.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/draft_arguments.h"
#include "cli/interrupt.h"
#include "cli/lever_options.h"
#include "cli/model_options.h"
#include "cli/number_checks.h"
#include "cli/progress.h"
#include "workbench/bench/host_facts.h"
#include "workbench/ladder/engine_bench.h"
#include "workbench/ladder/report.h"
#include "workbench/ledger.h"
#include "workbench/model_identity.h"
#include "workbench/tune/session.h"

namespace teapot::cli {
namespace {

constexpr int kExitFailed = 1;  // no answer: interrupted, all off differs from itself, or a lever that is to be exact is not

struct Arguments {
  ModelOptions model;
  DraftArguments drafts;
  workbench::LadderOptions ladder;
  workbench::EngineBenchOptions bench;
  std::optional<std::string> order;
  std::string out = "outputs/ladder";
  bool quick = false, no_drops = false, resume = false, json = false;
};

Result<workbench::LadderOrder> read_order(const Arguments& arguments) {
  if (!arguments.order) return workbench::default_ladder_order(check_lever);
  TEAPOT_TRY(const std::string text, read_file(*arguments.order));
  return workbench::parse_ladder_order(text, *arguments.order, check_lever);
}

// A lever is set by its rungs, not by its option too.
Status check_levers_free(const CLI::App& command, const workbench::LadderOrder& order) {
  for (const workbench::LadderRung& rung : order.rungs) {
    const CLI::Option* option = command.get_option_no_throw("--" + rung.lever);
    if (option == nullptr || option->count() == 0) continue;
    return fail(ErrorKind::kInvalid, "--{}: is a rung ({}:{}); expected it there or here", rung.lever, order.source, rung.line);
  }
  return {};
}

// All options that were given, but for those that change nothing that is measured, and what else makes it another ladder.
Result<Json> ledger_settings(const Arguments& arguments, const CLI::App& command, const workbench::LadderOrder& order,
                             const workbench::EngineBench& bench) {
  Json given = Json::object();
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0) given[option->get_name()] = fmt::format("{}", fmt::join(option->results(), " "));
  }
  for (const char* other : {"model", "--order", "--out", "--resume", "--json", "--verbose"}) given.erase(other);
  TEAPOT_TRY(Json host, workbench::host_fingerprint());
  TEAPOT_TRY(Json model, workbench::model_identity(arguments.model.model));
  return Json{{"teapot", TEAPOT_VERSION},    {"host", std::move(host)}, {"model", std::move(model)},
              {"options", std::move(given)}, {"order", to_json(order)}, {"both_at_once", bench.both_at_once()}};
}

// How the ladder that is gone on with loads its settings: it was memory that decided, which may be less now.
Result<std::optional<bool>> recorded_way(const std::string& path) {
  TEAPOT_TRY(const std::string text, read_file(path));
  TEAPOT_TRY(const workbench::LedgerText ledger, workbench::parse_ledger(text, path));
  const auto way = ledger.settings.find("both_at_once");
  if (way == ledger.settings.end() || !way->is_boolean()) return std::nullopt;
  return way->get<bool>();
}

Result<int> ladder(Arguments arguments, const CLI::App& command) {
  TEAPOT_TRY(const workbench::LadderOrder order, read_order(arguments));
  TEAPOT_CHECK(check_levers_free(command, order));
  TEAPOT_CHECK(check(arguments.ladder, order));
  const std::string path = arguments.out + "/ledger.jsonl";
  TEAPOT_CHECK(workbench::expect_ledger(path, arguments.resume));
  if (arguments.resume) {
    TEAPOT_TRY(arguments.bench.both_at_once, recorded_way(path));
  }
  arguments.bench.model = arguments.model.model;
  arguments.bench.concurrency = arguments.ladder.concurrency;
  TEAPOT_TRY(arguments.bench.accept_rates, parse_accept_rates(arguments.drafts));
  TEAPOT_TRY(arguments.bench.prompts, read_prompts(arguments.drafts, arguments.model));
  arguments.bench.engine_options = [&](const workbench::LeverSetting& setting) -> Result<engine::EngineOptions> {
    ModelOptions options = arguments.model;
    for (const auto& [lever, value] : setting) TEAPOT_CHECK(set_lever(options, lever, value));
    return options.engine;
  };

  const InterruptWatch interrupt;
  ProgressBar bar("ladder");
  TEAPOT_TRY(const auto bench, workbench::EngineBench::open(arguments.bench, order));
  log::info("{}", bench->way());
  workbench::LadderReport report{.model = arguments.model.model, .way = bench->way(), .conditions = {}, .found = {}, .warnings = {}};
  report.conditions = {{"teapot", TEAPOT_VERSION},
                       {"started", workbench::utc_now()},
                       {"prompt", arguments.bench.prompt},
                       {"gen", arguments.bench.gen},
                       {"accept_rate", arguments.drafts.accept_rates.value_or("the MTP layer's own")}};
  TEAPOT_TRY(report.conditions["host"], workbench::host_facts());
  if (arguments.quick) {
    report.warnings.push_back(
        fmt::format("quick: at most {} pairs of {} tokens, no lever turned off alone, and a chance of {:g} in each "
                    "race, not in all, that equal settings are called different",
                    arguments.ladder.pairs, arguments.bench.gen, arguments.ladder.alpha));
  }
  workbench::LadderRecords records;
  TEAPOT_TRY(const Json settings, ledger_settings(arguments, command, order, *bench));
  TEAPOT_TRY(workbench::Ledger ledger, workbench::Ledger::open(path, arguments.resume, settings, [&](const Json& line) {
               return workbench::add_ladder_line(line, arguments.ladder.concurrency, records);
             }));
  workbench::LadderHooks hooks;
  hooks.keep = [&](const Json& line) { return ledger.append(line); };
  hooks.step = [&](const workbench::Ladder& done) {
    report.found = done;
    return write_ladder_reports(report, arguments.out);
  };
  hooks.stop = &interrupt.flag();
  const double races = static_cast<double>(order.rungs.size()) * (arguments.ladder.drops ? 2 : 1) + 2;  // about
  hooks.progress = [&](const workbench::Ladder& done, const workbench::LadderStep& now) {
    bar.update(std::min(1.0, static_cast<double>(done.steps.size()) / races),
               fmt::format("{}: {} pairs", step_name(now), now.mean.log_ratio.pairs));
  };
  TEAPOT_TRY(report.found, workbench::run_ladder(order, arguments.ladder, *bench, hooks, records));
  TEAPOT_CHECK(write_out(arguments.json ? dump_json(to_json(report)) + "\n" : to_text(report)));
  TEAPOT_CHECK(write_ladder_reports(report, arguments.out));
  if (!arguments.json) TEAPOT_CHECK(write_out(fmt::format("\nreports: {}\n", arguments.out)));
  return report.found.sound() ? 0 : kExitFailed;
}

// Only what was not given.
void make_quick(const CLI::App& command, Arguments& arguments) {
  const auto set = [&](const char* option, uint32_t& value, uint32_t quick) {
    if (command.get_option(option)->count() == 0) value = quick;
  };
  set("--pairs", arguments.ladder.pairs, 6);
  set("--aa-pairs", arguments.ladder.aa_pairs, 4);
  set("--gen", arguments.bench.gen, 8);
  set("--prompt", arguments.bench.prompt, 32);
  if (command.get_option("--concurrency")->count() == 0) arguments.ladder.concurrency = {1, 4};
  if (command.get_option("--alpha")->count() == 0) arguments.ladder.alpha = 0.05;
  arguments.ladder.all_races = false;
  arguments.ladder.drops = false;
}

void add_race_options(CLI::App& command, Arguments& arguments) {
  workbench::LadderOptions& ladder = arguments.ladder;
  command.add_option("-c,--concurrency", ladder.concurrency, "Sequences of a turn: each pair has all of these")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command.add_option("--prompt", arguments.bench.prompt, "Tokens of each sequence before it decodes")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--gen", arguments.bench.gen, "Tokens of a reply")->check(CLI::Range(2u, 1'000'000u))->capture_default_str();
  command.add_option("--pairs", ladder.pairs, "Pairs of a race, at most")->check(CLI::Range(1u, 10'000u))->capture_default_str();
  command.add_option("--aa-pairs", ladder.aa_pairs, "Pairs of all off with itself, first; 0: none")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command.add_option("--alpha", ladder.alpha, "Chance that any race calls equal settings different")->capture_default_str();
  command.add_option("--min-difference", ladder.min_difference, "Share of TPOT that doesn't matter")->capture_default_str();
  command.add_option("--seed", ladder.seed, "Of who goes first in each pair")->capture_default_str();
}

}  // namespace

void add_ladder(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("ladder", "Turn levers on one after the other, each raced against the setting before it");
  add_model_options(*command, arguments->model);
  command->add_option("--order", arguments->order, "YAML: the rungs (default: those of docs/levers.md)")->check(CLI::ExistingFile);
  add_race_options(*command, *arguments);
  add_draft_arguments(*command, arguments->drafts);
  command->add_flag("--reload", arguments->bench.reload, "Load anew for each turn, even where two settings fit into memory");
  command->add_flag("--no-drops", arguments->no_drops, "Not the second part: each lever alone turned off");
  command->add_flag("--quick", arguments->quick, "Minutes instead of hours: few pairs of short replies, no second part");
  command->add_option("--out", arguments->out, "Where ladder.json, ladder.md, ladder.html and ledger.jsonl go")->capture_default_str();
  command->add_flag("--resume", arguments->resume, "Go on with the ladder in --out: same options");
  command->add_flag("--json", arguments->json, "Print one JSON object instead of the tables");
  command->callback([arguments, command, &exit_code] {
    arguments->ladder.drops = !arguments->no_drops;
    if (arguments->quick) make_quick(*command, *arguments);
    const auto code = ladder(*arguments, *command);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace teapot::cli
