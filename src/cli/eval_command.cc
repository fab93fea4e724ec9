// teapot eval: whether what a server says is right.
#include <cstdio>
#include <memory>

#include "base/log.h"
#include "cli/bench_options.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "cli/own_path.h"
#include "cli/progress.h"
#include "workbench/bench/host_facts.h"
#include "workbench/bench/report_folder.h"
#include "workbench/bench/serve_child.h"
#include "workbench/bench/server_facts.h"
#include "workbench/eval/gsm8k.h"
#include "workbench/ledger.h"

namespace teapot::cli {
namespace {

constexpr int kExitFailed = 1;  // questions without a reply

struct EvalArguments {
  BenchArguments bench;  // endpoint, client and request
  std::string dataset_path, out;
  std::optional<std::string> shots_path;
  uint32_t shots = 4, limit = 0, concurrency = 8;
  bool resume = false, json = false;
};

// The server that is asked: one that is there, or a child.
struct EvalServer {
  std::unique_ptr<workbench::ServeChild> child;
  workbench::Endpoint endpoint;
  workbench::BodyOptions body;
};

Result<EvalServer> connect(const workbench::BenchOptions& options, const std::atomic<bool>& stop) {
  EvalServer server;
  if (options.url.has_value() == options.model_path.has_value()) {
    return fail(ErrorKind::kInvalid, "found {}; expected a model to serve or the --url of a server", options.url ? "both" : "neither");
  }
  if (options.model_path) {
    workbench::ServeChildOptions serve;
    serve.program = options.program;
    serve.model = *options.model_path;
    serve.arguments = options.serve_arguments;
    serve.api_key = options.api_key;
    serve.stop = &stop;
    log::info("starting teapot serve {}", *options.model_path);
    TEAPOT_TRY(server.child, workbench::ServeChild::start(serve));
    server.endpoint = server.child->endpoint();
  } else {
    TEAPOT_TRY(server.endpoint, workbench::parse_endpoint(*options.url, options.api_key));
  }
  server.body = options.body;
  server.body.chat = server.endpoint.chat();
  if (!server.body.chat && !server.body.extra_args.contains("stop")) {
    server.body.extra_args["stop"] = {"\nQuestion:"};  // a base model goes on with the examples
  }
  if (!server.body.model.empty()) return server;
  const workbench::ServerFacts facts = workbench::ask_server(server.endpoint);
  if (facts.unreachable) return fail(ErrorKind::kNotFound, "{}", *facts.unreachable);
  if (facts.models.empty()) {
    return fail(ErrorKind::kInvalid, "{}: {}", server.endpoint.url(), workbench::why_no_model(facts, "--model NAME"));
  }
  server.body.model = facts.models.front();
  return server;
}

// What replies depend on, as far as it is said here: a run that is resumed must share it.
Json ledger_settings(const workbench::Gsm8kTask& task, const workbench::BenchOptions& options, const EvalServer& server) {
  Json settings = task.settings;
  settings["model"] = server.body.model;
  settings["chat"] = server.body.chat;
  settings["max_tokens"] = server.body.max_tokens;
  settings["extra_args"] = server.body.extra_args;
  settings["serve_args"] = options.serve_arguments;
  return settings;
}

Result<workbench::Ledger> open_ledger(const std::string& path, bool resume, const Json& settings, const workbench::Gsm8kTask& task,
                                      workbench::Gsm8kReplies& replies) {
  TEAPOT_TRY(workbench::Ledger ledger,
             workbench::Ledger::open(path, resume, settings, [&](const Json& line) { return add_gsm8k_line(line, task, replies); }));
  if (resume) log::info("{}: {} replies are there already", path, replies.size());
  return ledger;
}

Result<int> eval_gsm8k(const EvalArguments& arguments) {
  TEAPOT_TRY(const std::string program, own_path());
  TEAPOT_TRY(workbench::BenchOptions options, bench_options(arguments.bench, program));
  options.body.temperature = 0;
  if (arguments.resume && arguments.out.empty()) return fail(ErrorKind::kInvalid, "--resume: which run? Expected its folder as --out");
  TEAPOT_TRY(const workbench::Gsm8kTask task,
             workbench::load_gsm8k(arguments.dataset_path, arguments.shots, arguments.shots_path, arguments.limit));
  const std::string folder = arguments.out.empty() ? "outputs/" + workbench::folder_name("gsm8k_" + workbench::utc_now()) : arguments.out;
  const std::string path = folder + "/results.jsonl";
  TEAPOT_CHECK(workbench::expect_ledger(path, arguments.resume));
  const InterruptWatch interrupt;
  TEAPOT_TRY(const EvalServer server, connect(options, interrupt.flag()));
  workbench::Gsm8kReplies replies;
  TEAPOT_TRY(workbench::Ledger ledger, open_ledger(path, arguments.resume, ledger_settings(task, options, server), task, replies));
  workbench::LoadOptions load;
  load.parallel = arguments.concurrency;
  load.connect_timeout = options.connect_timeout;
  load.token_timeout = options.token_timeout;
  load.client_cpus = options.client_cpus;
  workbench::Gsm8kHooks hooks;
  hooks.send = [&](std::span<const workbench::LoadRequest> requests,
                   const std::function<void(const workbench::RequestRecord&)>& done) -> Status {
    workbench::LoadEvents events;
    events.done = done;
    events.stop = &interrupt.flag();
    TEAPOT_CHECK(workbench::run_load(server.endpoint, requests, load, events));
    return {};
  };
  hooks.keep = [&](const Json& line) { return ledger.append(line); };
  workbench::Gsm8kScore score;
  {
    ProgressBar bar("gsm8k");
    hooks.progress = [&](const workbench::Gsm8kScore& so_far) {
      const workbench::ShareInterval interval = so_far.interval();
      bar.update(static_cast<double>(so_far.finished) / so_far.questions,
                 fmt::format("{} of {} questions, accuracy {:.1f} % ({:.1f} to {:.1f})", so_far.finished, so_far.questions,
                             100 * so_far.accuracy(), 100 * interval.low, 100 * interval.high));
    };
    TEAPOT_TRY(score, workbench::run_gsm8k(task, server.body, hooks, replies));
  }
  if (arguments.json) {
    fmt::print("{}\n", dump_json(to_json(score, task)));
  } else {
    fmt::print("{}replies: {}\n", to_text(score, task), ledger.path());
  }
  if (std::fflush(stdout) != 0) return fail(ErrorKind::kIo, "the answer cannot be written");
  return score.complete() ? 0 : kExitFailed;
}

}  // namespace

void add_eval(CLI::App& app, int& exit_code) {
  CLI::App* eval = app.add_subcommand("eval", "Ask a server questions whose answers are known");
  eval->require_subcommand(1);
  const auto arguments = std::make_shared<EvalArguments>();
  BenchArguments& bench = arguments->bench;
  bench.bench.body.max_tokens = 1024;
  CLI::App* command = eval->add_subcommand(
      "gsm8k", "School mathematics, greedy: accuracy with its interval, and a hash of all replies, which tells whether one has changed");
  command->add_option("MODEL", bench.model, "A model to serve for the run: a child on a free port, which ends with it");
  command->add_option("--url", bench.url, "A server that is there: http://HOST:PORT[/v1/chat/completions]");
  command->add_option("--model", bench.bench.body.model, "The model's name in requests (default: the first of the server's /v1/models)");
  command->add_option("--api-key", bench.bench.api_key, "Sent as a bearer token")->envname("TEAPOT_API_KEY");
  command->add_option("--serve-args", bench.serve_args, "Options for the child, as one text: \"--mtp auto --threads 8\"");
  command->add_option("--dataset-path", arguments->dataset_path, "gsm8k's test.jsonl: {\"question\", \"answer\"} a line")->required();
  command->add_option("--shots", arguments->shots, "Worked examples before each question")
      ->check(CLI::Range(0u, 64u))
      ->capture_default_str();
  command->add_option(
      "--shots-path", arguments->shots_path,
      "Take the examples from this file's beginning; else they are the dataset's own first questions, which are not scored");
  command->add_option("--limit", arguments->limit, "Score so many questions; 0: all")->capture_default_str();
  command->add_option("--concurrency", arguments->concurrency, "Users at a time")->check(CLI::Range(1u, 65535u))->capture_default_str();
  command->add_option("--max-tokens", bench.bench.body.max_tokens, "Most tokens of a reply")->check(kPositive)->capture_default_str();
  command->add_option("--extra-args", bench.extra_args, "A JSON object whose fields go into each request, over all others");
  add_time_outs(*command, bench);
  command->add_option("--out", arguments->out, "Folder for results.jsonl, a reply a line (default: outputs/gsm8k and the time)");
  command->add_flag("--resume", arguments->resume, "Go on with the run in --out: what has a reply is not asked again");
  command->add_flag("--json", arguments->json, "The score as one JSON object");
  command->callback([arguments, &exit_code] {
    const auto code = eval_gsm8k(*arguments);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace teapot::cli
