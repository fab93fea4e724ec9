// teapot bench compare: two servers in pairs, until it is known which is faster and by how much.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "cli/bench_options.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/own_path.h"
#include "cli/progress.h"
#include "cli/share.h"
#include "workbench/bench/compare_report.h"
#include "workbench/bench/compare_servers.h"
#include "workbench/bench/host_facts.h"
#include "workbench/bench/report_folder.h"
#include "workbench/drift_probe.h"
#include "workbench/ledger.h"

namespace teapot::cli {
namespace {

constexpr int kExitFailed = 1;  // no answer: faults, A differs from itself, interrupted
constexpr int kExitGate = 3;    // an answer that doesn't pass --target-ratio

struct ServerArguments {
  std::string url, model_path, model, serve_args;
};

struct CompareArguments {
  BenchArguments bench;  // dataset, request and client
  ServerArguments a, b;
  workbench::CompareOptions compare;
  uint32_t requests_per_user = 2;
  std::string min_difference = "1%";
  bool resume = false, json = false;
};

workbench::ServerChoice choose(const ServerArguments& arguments, const std::string& api_key) {
  workbench::ServerChoice choice;
  if (!arguments.url.empty()) choice.url = arguments.url;
  if (!arguments.model_path.empty()) choice.model_path = arguments.model_path;
  choice.serve_arguments = CLI::detail::split_up(arguments.serve_args);
  choice.api_key = api_key;
  choice.model = arguments.model;
  return choice;
}

Result<workbench::CompareServersOptions> servers_options(const CompareArguments& arguments) {
  for (const auto& [name, server] : {std::pair{"a", &arguments.a}, {"b", &arguments.b}}) {
    if (server->url.empty() == server->model_path.empty()) {
      return fail(ErrorKind::kInvalid, "--{0}, --{0}-serve: found {1}; expected one of them", name,
                  server->url.empty() ? "neither" : "both");
    }
    if (server->model_path.empty() && !server->serve_args.empty()) {
      return fail(ErrorKind::kInvalid, "--{}-args are for a server of our own: give --{}-serve MODEL instead of --{}", name, name, name);
    }
  }
  workbench::CompareServersOptions options;
  TEAPOT_TRY(options.program, own_path());
  TEAPOT_TRY(const workbench::BenchOptions bench, bench_options(arguments.bench, options.program));
  options.servers = {choose(arguments.a, bench.api_key), choose(arguments.b, bench.api_key)};
  options.tokenizer_path = bench.tokenizer_path;
  options.requests_per_user = arguments.requests_per_user;
  options.allow_length_drift = bench.allow_length_drift;
  options.client_cpus = bench.client_cpus;
  options.token_timeout = bench.token_timeout;
  options.connect_timeout = bench.connect_timeout;
  options.dataset = bench.dataset;
  options.body = bench.body;
  return options;
}

// What a ledger is begun with: the servers, and what may not change once pairs have been seen. More pairs may be allowed.
Json ledger_settings(const workbench::CompareOptions& compare, const workbench::ComparedServers& servers) {
  Json settings = servers.settings();
  settings["parallel"] = compare.parallel;
  settings["aa_pairs"] = compare.aa_pairs;
  settings["alpha"] = compare.alpha;
  settings["min_difference"] = compare.min_difference;
  settings["target_ratio"] = compare.target_ratio ? Json(*compare.target_ratio) : Json();
  // An estimate over a fixed number of pairs is none over a number that was raised.
  settings["all_pairs"] = compare.all_pairs ? Json(compare.pairs) : Json(false);
  settings["seed"] = compare.seed;
  return settings;
}

Result<workbench::Ledger> open_ledger(const std::string& path, bool resume, const Json& settings, const workbench::CompareOptions& compare,
                                      std::vector<workbench::PairRecord>& pairs) {
  TEAPOT_TRY(workbench::Ledger ledger, workbench::Ledger::open(path, resume, settings, [&](const Json& line) -> Status {
               TEAPOT_TRY(workbench::PairRecord pair, workbench::parse_pair(line, compare.parallel));
               pairs.push_back(std::move(pair));
               return {};
             }));
  if (resume) log::info("{}: {} pairs are there already", path, pairs.size());
  return ledger;
}

// The bar: pairs done, and what they say.
void show(ProgressBar& bar, const workbench::CompareOptions& options, const workbench::Comparison& so_far) {
  const workbench::RatioFigures& tpot = so_far.mean.tpot;
  const uint32_t pairs = tpot.log_ratio.pairs, null = so_far.null.tpot.log_ratio.pairs;
  const double share = static_cast<double>(pairs + null) / (options.pairs + std::max(options.aa_pairs, null));
  if (pairs == 0) return bar.update(share, fmt::format("A with A: {} of {} pairs", null, options.aa_pairs));
  bar.update(share, fmt::format("{} of at most {} pairs, B / A {:.4f}, p {:.2g}", pairs, options.pairs, tpot.ratio(), tpot.p));
}

int exit_code_of(const workbench::Comparison& found) {
  if (!found.sound()) return kExitFailed;
  return found.gate && !found.gate->passed ? kExitGate : 0;
}

Result<int> compare(const CompareArguments& arguments) {
  TEAPOT_TRY(const workbench::CompareServersOptions options, servers_options(arguments));
  workbench::CompareReport report;
  report.options = arguments.compare;
  report.options.seed = options.dataset.seed;
  TEAPOT_TRY(report.options.min_difference, parse_share("--min-difference", arguments.min_difference));
  TEAPOT_CHECK(check(report.options));
  report.name = arguments.bench.bench.name;
  if (arguments.resume && report.name.empty()) return fail(ErrorKind::kInvalid, "--resume: which run? Expected its --name");
  const std::string started = workbench::utc_now();
  if (report.name.empty()) report.name = "compare_" + started;
  const std::string folder = arguments.bench.outputs_dir + "/" + workbench::folder_name(report.name);
  const std::string path = folder + "/ledger.jsonl";
  TEAPOT_CHECK(workbench::expect_ledger(path, arguments.resume));

  const InterruptWatch interrupt;
  TEAPOT_TRY(const auto servers, workbench::ComparedServers::open(options, report.options, &interrupt.flag(),
                                                                  [](const std::string& text) { log::info("{}", text); }));
  report.warnings = servers->warnings();
  report.conditions = {{"teapot", TEAPOT_VERSION}, {"started", started}};
  TEAPOT_TRY(report.conditions["host"], workbench::host_facts());
  report.conditions.update(servers->conditions());
  TEAPOT_TRY(workbench::Ledger ledger,
             open_ledger(path, arguments.resume, ledger_settings(report.options, *servers), report.options, report.pairs));
  workbench::CompareHooks hooks;
  hooks.run = [&](const workbench::Turn& turn) { return servers->run(turn); };
  if (servers->local()) {
    if (const auto probed = workbench::probe_read_gbs()) {
      hooks.read_gbs = workbench::probe_read_gbs;
    } else {
      report.warnings.push_back("drift of this host is not watched: " + probed.error().message);
    }
  }
  hooks.common_tokens = servers->common_tokens();
  hooks.keep = [&](const workbench::PairRecord& pair) { return ledger.append(to_json(pair)); };
  hooks.stop = &interrupt.flag();
  {
    ProgressBar bar("compare");
    hooks.progress = [&](const workbench::Comparison& so_far) { show(bar, report.options, so_far); };
    TEAPOT_TRY(report.found, workbench::run_compare(report.options, hooks, report.pairs));
  }
  TEAPOT_CHECK(write_compare_reports(report, folder));
  if (arguments.json) {
    fmt::print("{}\n", dump_json(to_json(report)));
  } else {
    fmt::print("{}\nreports: {}\n", to_text(report, isatty(STDOUT_FILENO) == 1), folder);
  }
  if (std::fflush(stdout) != 0) return fail(ErrorKind::kIo, "the answer cannot be written");
  return exit_code_of(report.found);
}

void add_server(CLI::App& command, const std::string& name, ServerArguments& arguments) {
  const std::string upper = name == "a" ? "A, the control" : "B";
  command.add_option("--" + name, arguments.url, upper + ": http://HOST:PORT[/v1/chat/completions]");
  command.add_option("--" + name + "-serve", arguments.model_path, "Instead: a model to serve for the run, a child on a free port");
  command.add_option("--" + name + "-args", arguments.serve_args, "Options for that child, as one text: \"--mtp auto --threads 8\"");
  command.add_option("--" + name + "-model", arguments.model, "The model's name in requests (default: the first of its /v1/models)");
}

}  // namespace

void add_bench_compare(CLI::App& bench, int& exit_code) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command =
      bench.add_subcommand("compare", "Two servers in pairs of turns, in drawn order, until the ratio of their TPOT is known");
  workbench::CompareOptions& compare_options = arguments->compare;
  compare_options.parallel = {1, 4, 8};  // the protocol's
  add_server(*command, "a", arguments->a);
  add_server(*command, "b", arguments->b);
  command->add_option("--api-key", arguments->bench.bench.api_key, "Sent to both as a bearer token")->envname("TEAPOT_API_KEY");
  command->add_option("--parallel", compare_options.parallel, "Users at a time: each pair has all of these loads")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  command->add_option("--requests-per-turn", arguments->requests_per_user, "Requests of each user in a turn")
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  command->add_option("--pairs", compare_options.pairs, "Pairs of A and B, at most")->check(CLI::Range(1u, 10'000u))->capture_default_str();
  command->add_option("--aa-pairs", compare_options.aa_pairs, "Pairs of A with itself before them, and one more in twenty; 0: none")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command->add_option("--alpha", compare_options.alpha, "Chance that equal servers are called different")->capture_default_str();
  command->add_option("--min-difference", arguments->min_difference, "TPOT that differs by less is as good as equal: 1% or 0.01")
      ->capture_default_str();
  command->add_option("--target-ratio", compare_options.target_ratio,
                      "A gate: exit code 0 only if the upper limit of TPOT B / A is at most this, else 3");
  command->add_flag("--all-pairs", compare_options.all_pairs, "No end before --pairs: an estimate without an early end's exaggeration");
  command->add_flag("--resume", arguments->resume, "Go on with the run of this --name: same options, but for more --pairs");
  command->add_flag("--json", arguments->json, "The answer as one JSON object");
  add_client_options(*command, arguments->bench);
  add_dataset_options(*command, arguments->bench);
  add_request_options(*command, arguments->bench);
  command->add_option("--name", arguments->bench.bench.name, "Of the run: its folder and title (default: compare and the time)");
  command->add_option("--outputs-dir", arguments->bench.outputs_dir, "Where the run's folder is made")->capture_default_str();
  command->callback([arguments, &exit_code] {
    const auto code = compare(*arguments);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace teapot::cli
