#include "workbench/bench/bench.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "workbench/bench/bench_warnings.h"
#include "workbench/bench/host_facts.h"
#include "workbench/bench/overhead.h"
#include "workbench/bench/prompt_length.h"
#include "workbench/bench/request_body.h"
#include "workbench/bench/serve_child.h"
#include "workbench/bench/server_facts.h"

namespace teapot::workbench {
namespace {

Status check(const BenchOptions& options) {
  if (options.url.has_value() == options.model_path.has_value()) {
    return fail(ErrorKind::kInvalid, "a benchmark needs either a model to serve or the URL of a server; found {}",
                options.url ? "both" : "neither");
  }
  if (options.parallel.empty()) return fail(ErrorKind::kInvalid, "--parallel: found no number of users");
  if (options.number.size() != 1 && options.number.size() != options.parallel.size()) {
    return fail(ErrorKind::kInvalid, "--number has {} values; expected one, or one for each of the {} of --parallel", options.number.size(),
                options.parallel.size());
  }
  if (std::ranges::find(options.number, 0u) != options.number.end()) return fail(ErrorKind::kInvalid, "--number: found 0 requests");
  uint64_t prompts = 0;
  for (size_t i = 0; i < options.parallel.size(); ++i)
    prompts += uint64_t{options.number[options.number.size() == 1 ? 0 : i]} + options.warmup;
  if (prompts > std::numeric_limits<int32_t>::max()) return fail(ErrorKind::kInvalid, "{} requests in all are too many", prompts);
  if (options.body.max_tokens != 0 && options.body.min_tokens > options.body.max_tokens) {
    return fail(ErrorKind::kInvalid, "--min-tokens is {}, more than the {} of --max-tokens", options.body.min_tokens,
                options.body.max_tokens);
  }
  if (options.url) {
    if (const auto endpoint = parse_endpoint(*options.url); !endpoint) return std::unexpected(endpoint.error());
  }
  for (const auto& [path, what] : {std::pair{options.model_path, "model"}, {options.tokenizer_path, "tokenizer"}}) {
    std::error_code ignored;
    if (path && !std::filesystem::exists(*path, ignored)) return fail(ErrorKind::kNotFound, "{}: there is no such {}", *path, what);
  }
  return check_dataset(options.dataset, options.model_path || options.tokenizer_path);
}

class Bench {
 public:
  Bench(const BenchOptions& options, const BenchEvents& events) : options_(options), events_(events) {}

  Result<BenchRun> run() {
    run_.conditions = {{"teapot", TEAPOT_VERSION}, {"started", utc_now()}, {"clock", "CLOCK_MONOTONIC, read when a socket's read returns"}};
    TEAPOT_TRY(run_.conditions["host"], host_facts());
    TEAPOT_CHECK(load_text());
    TEAPOT_CHECK(measure_client());
    TEAPOT_CHECK(find_server());
    TEAPOT_CHECK(describe_requests());
    for (size_t i = 0; i < options_.parallel.size() && run_.complete; ++i) {
      TEAPOT_CHECK(run_load_of(options_.parallel[i], options_.number[options_.number.size() == 1 ? 0 : i]));
    }
    return std::move(run_);
  }

 private:
  bool stopped() const { return events_.stop != nullptr && *events_.stop; }
  void note(const std::string& text) const {
    if (events_.note) events_.note(text);
  }
  void give_up(std::string why) {
    run_.complete = false;
    run_.warnings.push_back(std::move(why));
  }

  Status load_text();
  Status measure_client();
  Status find_server();
  Status choose_model(const ServerFacts& facts);
  Status describe_requests();
  Status run_load_of(uint32_t parallel, uint32_t number);
  void look_at(const LoadResult& result);

  const BenchOptions& options_;
  const BenchEvents& events_;
  BenchRun run_;
  std::optional<engine::TextAssets> text_;
  std::unique_ptr<ServeChild> child_;
  Endpoint endpoint_;
  BodyOptions body_;
  uint32_t prompts_ = 0;        // made so far: no load repeats those of another
  uint32_t shared_tokens_ = 0;  // of all prompts
};

Status Bench::load_text() {
  const std::optional<std::string>& path = options_.tokenizer_path ? options_.tokenizer_path : options_.model_path;
  if (!path) return {};
  TEAPOT_TRY(text_, engine::TextAssets::load(*path));
  return {};
}

// Before the server is started: then both have the processors to themselves.
Status Bench::measure_client() {
  const uint32_t parallel = std::ranges::max(options_.parallel);
  note(fmt::format("measuring the client's own cost with {} users", parallel));
  TEAPOT_TRY(const ClientOverhead overhead, measure_overhead(parallel, options_.client_cpus));
  note(fmt::format("the client costs {:.1f} us a request and {:.1f} us an event, and sees an event {:.0f} us after it was written",
                   overhead.us_per_request, overhead.us_per_event, overhead.delay_us));
  Json cpus = options_.client_cpus.empty() ? Json("any") : Json(options_.client_cpus);
  run_.conditions["client"] = {{"cpus", std::move(cpus)}, {"overhead", to_json(overhead)}};
  return {};
}

Status Bench::find_server() {
  if (options_.model_path) {
    note(fmt::format("starting teapot serve {}", *options_.model_path));
    ServeChildOptions serve;
    serve.program = options_.program;
    serve.model = *options_.model_path;
    serve.arguments = options_.serve_arguments;
    serve.api_key = options_.api_key;
    serve.stop = events_.stop;
    TEAPOT_TRY(child_, ServeChild::start(serve));
    endpoint_ = child_->endpoint();
    if (!options_.body.chat) endpoint_ = endpoint_.with_target("/v1/completions");
  } else {
    TEAPOT_TRY(endpoint_, parse_endpoint(*options_.url, options_.api_key));
  }
  const ServerFacts facts = ask_server(endpoint_);
  body_ = options_.body;
  body_.chat = endpoint_.chat();
  TEAPOT_CHECK(choose_model(facts));
  Json& server = run_.conditions["server"];
  server = {{"url", endpoint_.url()}, {"model", body_.model}};
  if (options_.model_path) server["path"] = *options_.model_path;
  if (!options_.serve_arguments.empty()) server["arguments"] = options_.serve_arguments;
  for (const auto& [name, value] :
       {std::pair{"version", &facts.version}, {"levers", &facts.levers}, {"context_tokens", &facts.context_tokens}}) {
    if (!value->is_null()) server[name] = *value;
  }
  // A Teapot tells the tokens of each event if it is asked to.
  const bool teapot = !facts.levers.is_null();
  if (teapot && body_.stream && !body_.extra_args.contains("stream_options")) {
    body_.extra_args["stream_options"] = {{"include_usage", true}, {"continuous_usage_stats", true}};
  }
  if (is_local(endpoint_) && options_.client_cpus.empty()) {
    run_.warnings.emplace_back("the client runs on the server's host and shares its processors: --client-cpus binds it to some of them");
  }
  run_.name = options_.name;
  if (run_.name.empty())
    run_.name = fmt::format("{}_{}", body_.model.empty() ? "run" : body_.model, run_.conditions["started"].get<std::string>());
  return {};
}

// A server that is not there is no fault of the options: its requests are counted as what they come to.
Status Bench::choose_model(const ServerFacts& facts) {
  if (!body_.model.empty()) return {};
  if (facts.unreachable) return {};
  if (facts.models.empty()) {
    return fail(ErrorKind::kInvalid, "{}: {}", endpoint_.url(), why_no_model(facts, "--model NAME"));
  }
  body_.model = facts.models.front();
  if (facts.models.size() > 1) {
    run_.warnings.push_back(
        fmt::format("the server has {} models; the first one, {}, was measured: --model names another", facts.models.size(), body_.model));
  }
  return {};
}

Status Bench::describe_requests() {
  const DatasetOptions& dataset = options_.dataset;
  Json& json = run_.conditions["dataset"];
  json = {{"dataset", dataset.dataset},
          {"min_prompt_length", dataset.min_prompt_length},
          {"max_prompt_length", dataset.max_prompt_length},
          {"prefix_length", dataset.prefix_length},
          {"seed", dataset.seed}};
  if (dataset.path) json["path"] = *dataset.path;
  if (options_.tokenizer_path) json["tokenizer"] = *options_.tokenizer_path;
  Json request = request_json(prompt_of("", body_), body_);
  request.erase("messages");
  request.erase("prompt");
  run_.conditions["request"] = std::move(request);
  run_.conditions["load"] = {{"parallel", options_.parallel},
                             {"number", options_.number},
                             {"warmup", options_.warmup},
                             {"rate", options_.rate},
                             {"lengths_checked", !options_.allow_length_drift},
                             {"read_timeout_ms", options_.token_timeout.count()},
                             {"connect_timeout_ms", options_.connect_timeout.count()}};
  shared_tokens_ = dataset.prefix_length;
  if (text_ && (!body_.chat || text_->chat_template)) {
    TEAPOT_TRY(const uint32_t around, count_prompt_tokens(*text_, request_json(prompt_of("", body_), body_)));
    shared_tokens_ += around;
  }
  return {};
}

Status Bench::run_load_of(uint32_t parallel, uint32_t number) {
  const uint32_t count = number + options_.warmup;
  note(fmt::format("making {} prompts", count));
  TEAPOT_TRY(const std::vector<Prompt> prompts, make_prompts(options_.dataset, text_ ? &*text_ : nullptr, body_, count, prompts_));
  prompts_ += count;
  std::vector<LoadRequest> requests;
  for (const Prompt& prompt : prompts) requests.push_back(make_request(prompt, body_, !options_.allow_length_drift));

  LoadOptions load;
  load.parallel = parallel;
  load.rate = options_.rate;
  load.seed = options_.dataset.seed;
  load.warmup = options_.warmup;
  load.connect_timeout = options_.connect_timeout;
  load.token_timeout = options_.token_timeout;
  load.client_cpus = options_.client_cpus;
  uint32_t done = 0;
  double tpot = 0;
  LoadEvents events;
  const auto tell = [&] {
    if (events_.progress) events_.progress(parallel, done, count, tpot);
  };
  events.done = [&](const RequestRecord&) {
    ++done;
    tell();
  };
  events.progress = [&](uint32_t, double tpot_ms) {
    tpot = tpot_ms;
    tell();
  };
  events.stop = events_.stop;
  note(fmt::format("{} requests by {} users at a time{}", number, parallel,
                   options_.warmup == 0 ? "" : fmt::format(", after {} to warm up", options_.warmup)));
  TEAPOT_TRY(LoadResult result, run_load(endpoint_, requests, load, events));
  look_at(result);
  LoadSummary summary = summarise(result);
  run_.loads.push_back({std::move(summary), std::move(result)});
  if (events_.load_done) events_.load_done(run_);
  return {};
}

void Bench::look_at(const LoadResult& result) {
  for (std::string& warning : load_warnings(result, body_.stream, shared_tokens_)) run_.warnings.push_back(std::move(warning));
  if (child_) {
    if (const std::string how = child_->ended(); !how.empty()) {
      return give_up(fmt::format("c = {}: the server has ended ({}); it said last:\n{}", result.parallel, how, child_->log_tail()));
    }
  }
  if (stopped()) return give_up(fmt::format("c = {}: stopped by the user; what was measured until then is here", result.parallel));
  const bool absent = std::ranges::all_of(result.records, [](const RequestRecord& record) { return record.outcome == Outcome::kConnect; });
  if (absent) give_up(fmt::format("c = {}: the server was never there; what was to come after this load was left out", result.parallel));
}

}  // namespace

Result<BenchRun> run_bench(const BenchOptions& options, const BenchEvents& events) {
  TEAPOT_CHECK(check(options));
  return Bench(options, events).run();
}

}  // namespace teapot::workbench
