#include "workbench/tune/session.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "workbench/eval/text_hash.h"
#include "workbench/ledger.h"
#include "workbench/tune/recorded_trials.h"
#include "workbench/tune/reports.h"
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

// Of ledgers that do not have them: this machine's.
Status fill_host_values(TuneSettings& settings) {
  if (!settings.search.host.empty()) return {};
  TEAPOT_TRY(settings.search.host, read_host_values());
  return {};
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

Status begin_session(const std::string& folder, const TuneSettings& settings, const CatalogueText& catalogue) {
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
  const Json settings = to_json(session.settings);
  TEAPOT_CHECK(fill_host_values(session.settings));
  TEAPOT_TRY(ServerTrialsOptions options, trials_options(session, session.settings.search.host, stop));
  TEAPOT_TRY(const auto live, ServerTrials::open(std::move(options)));
  std::vector<Json> lines;
  TEAPOT_TRY(Ledger ledger, Ledger::resume(ledger_path(folder), settings, lines));
  const size_t known = lines.size();
  RecordedTrials trials(std::move(lines), session.settings.search.parallel, hash_of(host), live.get(), [&](const Json& line) -> Status {
    TEAPOT_CHECK(ledger.append(line));
    session.lines.push_back(line);
    return {};
  });
  session.lines.resize(known);
  SearchEvents fresh = events;  // what was said before the interruption is not said again
  fresh.note = [&](const std::string& text) {
    if (!trials.replaying() && events.note) events.note(text);
  };
  fresh.progress = [&](const SearchResult& so_far, const std::string& now) {
    if (!trials.replaying() && events.progress) events.progress(so_far, now);
  };
  TEAPOT_TRY(session.result, search(session.catalogue, session.settings.search, trials, fresh));
  TEAPOT_CHECK(write_tune_reports(session));
  return session;
}

Result<TuneSession> read_session(const std::string& folder) {
  TEAPOT_TRY(TuneSession session, open_session(folder));
  TEAPOT_CHECK(fill_host_values(session.settings));
  RecordedTrials trials(session.lines, session.settings.search.parallel, "", nullptr, {});
  TEAPOT_TRY(session.result, search(session.catalogue, session.settings.search, trials, {}));
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
