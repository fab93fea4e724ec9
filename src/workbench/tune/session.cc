#include "workbench/tune/session.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/file.h"
#include "workbench/eval/text_hash.h"
#include "workbench/ledger.h"
#include "workbench/tune/profile_check.h"
#include "workbench/tune/recorded_trials.h"
#include "workbench/tune/server_trials.h"

namespace teapot::workbench {
namespace {

std::string ledger_path(const std::string& folder) { return folder + "/ledger.jsonl"; }
std::string catalogue_path(const std::string& folder) { return folder + "/catalogue.yaml"; }

std::string hash_of(const Json& host) {
  TextHash hash;
  hash.add(dump_json(host));
  return fmt::format("{:016x}", hash.value());
}

// What "@..." stands for, where the ledger doesn't say it: warnings.
Result<std::vector<std::string>> complete_host_values(HostValues& host) {
  if (!host.empty()) return {};
  TEAPOT_TRY(host, read_host_values());
  return std::vector<std::string>{"the ledger is of an older version, without its host's values: \"@...\" stands for this machine's"};
}

// The session's are kept: what was measured was measured with them.
Result<std::vector<std::string>> changed_host_values(const HostValues& then) {
  TEAPOT_TRY(const HostValues now, read_host_values());
  std::vector<std::string> warnings;
  for (const auto& [name, value] : then) {
    const auto found = now.find(name);
    if (found != now.end() && found->second == value) continue;
    warnings.push_back(fmt::format("@{} is {}, as the session began; now this machine {}", name, value,
                                   found == now.end() ? "doesn't have it" : "would say " + found->second));
  }
  return warnings;
}

void add_in_front(std::vector<std::string>& warnings, const std::vector<std::string>& more) {
  warnings.insert(warnings.begin(), more.begin(), more.end());
}

// Settings and catalogue of a folder, and its ledger's lines.
Result<TuneSession> open_session(const std::string& folder) {
  TuneSession session;
  session.folder = folder;
  TEAPOT_CHECK(expect_ledger(ledger_path(folder), /*resume=*/true));
  TEAPOT_TRY(const std::string text, read_file(ledger_path(folder)));
  TEAPOT_TRY(LedgerText ledger, parse_ledger(text, ledger_path(folder)));
  auto settings = parse_tune_settings(ledger.settings);
  if (!settings) return at(ledger_path(folder) + ", line 1", std::move(settings).error());
  session.settings = *std::move(settings);
  session.lines = std::move(ledger.lines);
  TEAPOT_TRY(session.catalogue, load_catalogue(catalogue_path(folder)));
  if (!session.settings.start.empty()) session.catalogue.launch.start = session.settings.start;
  if (session.settings.start_timeout_s > 0) session.catalogue.launch.ready_timeout_s = session.settings.start_timeout_s;
  return session;
}

Result<ServerTrialsOptions> trials_options(const TuneSession& session, const HostValues& host, const std::atomic<bool>* stop) {
  const TuneSettings& settings = session.settings;
  ServerTrialsOptions options;
  options.start.catalogue = &session.catalogue;
  options.start.placeholders = settings.fill;
  options.start.host = host;
  options.start.parallel = settings.search.parallel;
  options.start.target = settings.target;
  options.start.stop = stop;
  options.prompt_tokens = settings.prompt_tokens;
  options.output_tokens = settings.output_tokens;
  options.requests_per_user = settings.requests_per_user;
  options.seed = settings.search.seed;
  options.folder = session.folder;
  options.token_timeout = std::chrono::seconds(settings.read_timeout_s);
  options.extra_args = settings.extra_args;
  options.probe_bandwidth = true;
  return options;
}

}  // namespace

Status check_base(const Catalogue& catalogue, const TuneSettings& settings) {
  TuneSession session;
  session.settings = settings;
  session.catalogue = catalogue;
  if (!settings.start.empty()) session.catalogue.launch.start = settings.start;
  TEAPOT_TRY(std::ignore, command_of(session, {}));
  if (auto started = command_of(session, settings.search.base); !started) return at("--from", std::move(started).error());
  if (Status holds = check_profile(catalogue, canonical(catalogue, settings.search.base)); !holds) {
    return at("--from", std::move(holds).error());
  }
  return {};
}

Status begin_session(const std::string& folder, const TuneSettings& settings, const CatalogueText& catalogue) {
  if (std::filesystem::exists(ledger_path(folder))) {
    return fail(ErrorKind::kInvalid, "{}: exists already; `teapot tune resume {}` goes on, another --out begins anew", ledger_path(folder),
                folder);
  }
  TEAPOT_CHECK(expect_ledger(ledger_path(folder), /*resume=*/false));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", folder, error.message());
  TEAPOT_CHECK(write_file(catalogue_path(folder), catalogue.yaml));
  TEAPOT_TRY(const Ledger ledger, Ledger::create(ledger_path(folder), to_json(settings)));
  return {};
}

Result<TuneSession> run_session(const std::string& folder, const SearchEvents& events, const std::atomic<bool>* stop) {
  TEAPOT_TRY(TuneSession session, open_session(folder));
  TEAPOT_TRY(Json host, host_fingerprint());
  if (host != session.settings.host) {
    return fail(ErrorKind::kInvalid, "{}: begun on another host, or another kernel: {}; now {}", folder, dump_json(session.settings.host),
                dump_json(host));
  }
  TEAPOT_TRY(Ledger ledger, Ledger::resume(ledger_path(folder), to_json(session.settings), session.lines));
  TEAPOT_TRY(std::vector<std::string> warnings, complete_host_values(session.settings.search.host));
  TEAPOT_TRY(const std::vector<std::string> changed, changed_host_values(session.settings.search.host));
  add_in_front(warnings, changed);
  TEAPOT_TRY(ServerTrialsOptions options, trials_options(session, session.settings.search.host, stop));
  TEAPOT_TRY(const auto live, ServerTrials::open(std::move(options)));
  RecordedTrials trials(session.lines, session.settings.search.parallel, hash_of(host), live.get(), [&](const Json& line) -> Status {
    TEAPOT_CHECK(ledger.append(line));
    session.lines.push_back(line);
    return {};
  });
  SearchEvents fresh = events;  // what was said before the interruption is not said again
  fresh.note = [&](const std::string& text) {
    if (!trials.replaying() && events.note) events.note(text);
  };
  fresh.progress = [&](const SearchResult& so_far, const std::string& now) {
    if (!trials.replaying() && events.progress) events.progress(so_far, now);
  };
  TEAPOT_TRY(session.result, search(session.catalogue, session.settings.search, trials, fresh));
  add_in_front(session.result.warnings, warnings);
  return session;
}

Result<TuneSession> read_session(const std::string& folder) {
  TEAPOT_TRY(TuneSession session, open_session(folder));
  TEAPOT_TRY(const std::vector<std::string> warnings, complete_host_values(session.settings.search.host));
  RecordedTrials trials(session.lines, session.settings.search.parallel, "", nullptr, {});
  TEAPOT_TRY(session.result, search(session.catalogue, session.settings.search, trials, {}));
  add_in_front(session.result.warnings, warnings);
  return session;
}

Result<StartCommand> command_of(const TuneSession& session, const KnobProfile& profile, const std::string& port) {
  const TuneSettings& settings = session.settings;
  TEAPOT_TRY(const KnobProfile resolved, resolve_values(session.catalogue, profile, settings.search.host, settings.search.parallel));
  Placeholders placeholders = settings.fill;
  placeholders["port"] = port;
  placeholders["port2"] = port == "{port}" ? "{port2}" : std::to_string(std::atoi(port.c_str()) + 1);
  return build_command(session.catalogue, resolved, placeholders);
}

}  // namespace teapot::workbench
