#include "workbench/tune/server_trials.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "base/file.h"
#include "base/path_name.h"
#include "workbench/bench/dataset.h"
#include "workbench/bench/load.h"
#include "workbench/bench/request_body.h"
#include "workbench/drift_probe.h"
#include "workbench/eval/text_hash.h"
#include "workbench/tune/evidence.h"
#include "workbench/tune/prompts.h"
#include "workbench/tune/server_version.h"

namespace teapot::workbench {
namespace {

constexpr uint32_t kFixedPrompts = 4, kFixedTokens = 48;  // of the text gate
constexpr uint32_t kWarmTokens = 16, kProbeTokens = 32;
constexpr uint32_t kPairsPerBandwidth = 8;

// Prompts that are the same in every session with one seed have sets of their own, far from those of pairs.
constexpr uint32_t kGateSet = 0xffff0000, kWarmSet = 0xffff0001, kProbeSet = 0xffff0002;

std::string hash_of(const std::vector<std::string>& replies) {
  TextHash hash;
  for (const std::string& reply : replies) hash.add(reply);
  return fmt::format("{:016x}", hash.value());
}

// All that a catalogue says of counters.
std::string counters_named(const Catalogue& catalogue) {
  const Launch& launch = catalogue.launch;
  std::string named;
  for (const std::string* text : {&launch.acceptance, &launch.mean_accepted, &launch.accepted_per_position, &launch.cache_hits,
                                  &launch.preemptions, &launch.server_tpot, &launch.graph_dispatch}) {
    named += *text + "\n";
  }
  for (const Knob& knob : catalogue.knobs) {
    if (knob.check == CheckKind::kMetric) named += knob.check_what + "\n";
  }
  return named;
}

}  // namespace

Result<std::unique_ptr<ServerTrials>> ServerTrials::open(ServerTrialsOptions options) {
  TEAPOT_CHECK(check_placeholders(*options.start.catalogue, {}));
  std::error_code error;
  std::filesystem::create_directories(options.folder + "/logs", error);
  if (error) return fail(ErrorKind::kIo, "{}/logs: cannot be made: {}", options.folder, error.message());
  // Logs of an earlier session stay.
  std::unique_ptr<ServerTrials> trials(new ServerTrials(std::move(options)));
  for (const auto& file : std::filesystem::directory_iterator(trials->options_.folder + "/logs", error)) {
    if (file.path().extension() == ".log") ++trials->starts_;
  }
  return trials;
}

double ServerTrials::elapsed_s() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

Result<std::unique_ptr<StartedServer>> ServerTrials::start(const KnobProfile& profile) {
  if (!told_by_command_) {
    const Catalogue& catalogue = *options_.start.catalogue;
    const VersionQuestion question = version_question(catalogue.launch, options_.start.placeholders);
    std::vector<std::pair<std::string, std::string>> env;
    for (const auto& [name, value] : catalogue.launch.env) {
      if (auto filled = fill_placeholders(value, options_.start.placeholders)) env.emplace_back(name, *std::move(filled));
    }
    told_by_command_ = question.command.empty() ? "" : ask_for_version(question.command, env, catalogue.version);
  }
  return StartedServer::start(options_.start, profile, fmt::format("{}/logs/{:05}.log", options_.folder, starts_++));
}

Result<std::optional<TurnFigures>> ServerTrials::send(StartedServer& server, const Load& load) const {
  BodyOptions body;
  body.model = server.model();
  body.chat = server.endpoint().chat();
  body.max_tokens = load.tokens;
  body.temperature = 0;
  body.seed = 0;
  // A lower limit costs some servers a mask in each step, which is an effect of the benchmark: the end of text is ignored instead.
  body.extra_args = {{"ignore_eos", true}};
  for (const auto& [name, value] : options_.extra_args.items()) body.extra_args[name] = value;
  std::vector<LoadRequest> requests;
  for (uint32_t i = 0; i < load.requests; ++i) {
    const std::string text = tune_prompt(load.seed, load.set, load.first + i, options_.prompt_tokens);
    requests.push_back(make_request(prompt_of(text, body), body, /*check_lengths=*/false));
  }
  LoadOptions options;
  options.parallel = load.parallel;
  options.connect_timeout = options_.connect_timeout;
  options.token_timeout = options_.token_timeout;
  options.client_cpus = options_.client_cpus;
  options.keep_text = load.keep_replies;
  LoadEvents events;
  events.stop = options_.start.stop;
  TEAPOT_TRY(LoadResult result, run_load(server.endpoint(), requests, options, events));
  if (over()) return fail(ErrorKind::kBusy, "interrupted");
  TurnFigures figures = turn_figures(std::move(result), load.keep_replies);
  if (figures.failed == 0) return figures;
  server.set_failed(figures);
  return std::nullopt;
}

// One short request of each shape: what is made on first use is made now.
Result<bool> ServerTrials::warm_up(StartedServer& server) const {
  uint32_t first = 0;
  for (const uint32_t parallel : options_.start.parallel) {
    Load load;
    load.parallel = load.requests = parallel;
    load.tokens = std::min(kWarmTokens, options_.output_tokens);
    load.seed = options_.seed;
    load.set = kWarmSet;
    load.first = first;
    first += parallel;
    TEAPOT_TRY(const auto figures, send(server, load));
    if (!figures) return false;
  }
  return true;
}

Counters ServerTrials::counters(const StartedServer& server) const {
  const std::string target = target_of(options_.start.catalogue->launch.metrics);
  const auto text = target.empty() ? std::nullopt : server.get(target);
  return text ? parse_counters(*text) : Counters{};
}

std::string ServerTrials::version_of(const StartedServer& server) const {
  return version_text(options_.start.catalogue->version, server.version(), told_by_command_.value_or(""));
}

void ServerTrials::keep_configuration(const StartedServer& server, Json& started) const {
  const std::string& words = options_.start.catalogue->launch.config_echo;
  const size_t get = words.find("GET /");
  const auto body = get == std::string::npos ? std::nullopt : server.get(target_of(std::string_view(words).substr(get)));
  if (!body) return;
  const std::filesystem::path log = started["log"].get<std::string>();
  const std::string file = std::filesystem::path(log).replace_extension(".config").string();
  if (write_file(file, *body)) started["config"] = {{"file", file}, {"hash", hash_of({*body})}};
}

Result<Validation> ServerTrials::validate(const KnobProfile& profile) {
  TEAPOT_TRY(const auto server, start(profile));
  Validation found;
  found.started = server->started();
  found.start_s = server->start_s();
  const auto take_fault = [&] {
    found.fault = server->fault();
    found.what = server->what();
    return found;
  };
  if (server->fault() != TrialFault::kNone) return take_fault();
  found.version = version_of(*server);
  keep_configuration(*server, found.started);
  const std::string& acceptance = options_.start.catalogue->launch.acceptance;
  if (!acceptance.empty() && !ratio_in(acceptance)) {
    found.notes.push_back(
        fmt::format("acceptance '{}' is no ratio of two counters: it is guarded only where replies tell of their drafts", acceptance));
  }
  const Counters before = counters(*server);
  Load gate;
  gate.requests = kFixedPrompts;
  gate.tokens = std::min(kFixedTokens, options_.output_tokens);
  gate.seed = options_.seed;
  gate.set = kGateSet;
  gate.keep_replies = true;
  TEAPOT_TRY(auto fixed, send(*server, gate));
  if (!fixed) return take_fault();
  found.replies = std::move(fixed->replies);
  TEAPOT_TRY(const bool warm, warm_up(*server));
  if (!warm) return take_fault();
  Sources sources;
  sources.get = [&](const std::string& target) { return server->get(target); };
  sources.log = server->log();
  sources.grown = growth(before, counters(*server));
  sources.grown["reply:draft_n"] = static_cast<double>(fixed->drafted);
  sources.grown["reply:draft_n_accepted"] = static_cast<double>(fixed->accepted);
  if (const auto model = options_.start.placeholders.find("model"); model != options_.start.placeholders.end()) {
    sources.model = name_of_path(model->second);
  }
  sources.process = [&](const std::string& file) { return server->process_file(file); };
  for (const auto& [knob, value] : server->resolved()) {
    found.evidence.push_back(look_for(*options_.start.catalogue->find(knob), value, sources));
  }
  return found;
}

void ServerTrials::count_drafts(const Counters& grown, Arm& arm) const {
  const auto ratio = ratio_in(options_.start.catalogue->launch.acceptance);
  const bool told = std::ranges::any_of(arm.loads, [](const TurnFigures& load) { return load.drafted > 0; });
  if (told || !ratio) return;
  const auto accepted = evaluate(ratio->above, grown), drafted = evaluate(ratio->below, grown);
  if (!accepted || !drafted || !*accepted || !*drafted || **drafted <= 0) return;
  arm.loads.front().drafted = static_cast<uint64_t>(**drafted);
  arm.loads.front().accepted = static_cast<uint64_t>(std::max(0.0, **accepted));
}

Result<Arm> ServerTrials::measure(const KnobProfile& profile, uint32_t set) {
  TEAPOT_TRY(const auto server, start(profile));
  Arm arm;
  arm.started = server->started();
  arm.start_s = server->start_s();
  const auto take_fault = [&] {
    arm.fault = server->fault();
    arm.what = server->what();
    return arm;
  };
  if (server->fault() != TrialFault::kNone) return take_fault();
  arm.version = version_of(*server);
  TEAPOT_TRY(const bool warm, warm_up(*server));
  if (!warm) return take_fault();
  Load probe;
  probe.tokens = std::min(kProbeTokens, options_.output_tokens);
  probe.seed = options_.seed;
  probe.set = kProbeSet;
  TEAPOT_TRY(const auto probed, send(*server, probe));
  if (!probed) return take_fault();
  if (probed->tpot_ms > 0) arm.probe_ms = probed->tpot_ms;
  const Counters before = counters(*server);
  const uint32_t fewest = std::ranges::min(options_.start.parallel);
  uint32_t first = 0;
  for (const uint32_t parallel : options_.start.parallel) {
    Load load;
    load.parallel = parallel;
    load.requests = parallel * options_.requests_per_user;
    load.tokens = options_.output_tokens;
    load.seed = options_.seed;
    load.set = set;
    load.first = first;
    load.keep_replies = parallel == fewest && arm.hash.empty();
    first += load.requests;
    TEAPOT_TRY(auto figures, send(*server, load));
    if (!figures) return take_fault();
    if (figures->tpot_ms <= 0 || figures->ttft_ms <= 0) {
      arm.fault = TrialFault::kRequests;
      arm.what = fmt::format("with {} users: {}, so no time per token", parallel, figures->untimed);
      return arm;
    }
    if (load.keep_replies) arm.hash = hash_of(figures->replies);
    figures->replies.clear();
    arm.loads.push_back(*std::move(figures));
  }
  const Counters grown = growth(before, counters(*server));
  count_drafts(grown, arm);
  arm.counters = worth_keeping(grown, counters_named(*options_.start.catalogue));
  return arm;
}

Result<PairOutcome> ServerTrials::pair(const PairRequest& request) {
  PairOutcome outcome;
  if (options_.probe_bandwidth && pairs_++ % kPairsPerBandwidth == 0) {
    if (const auto gbs = probe_read_gbs()) outcome.read_gbs = *gbs;
  }
  for (const bool b : {request.b_first, !request.b_first}) {
    TEAPOT_TRY(Arm arm, measure(b ? request.b : request.a, request.prompts));
    const bool failed = arm.fault != TrialFault::kNone;
    (b ? outcome.b : outcome.a) = std::move(arm);
    if (failed) break;  // nothing can be compared with a failure
  }
  return outcome;
}

}  // namespace teapot::workbench
