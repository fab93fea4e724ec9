#include "workbench/sqlite_writer.h"
#include "workbench/tune/recorded_trials.h"
#include "workbench/tune/reports.h"
#include "workbench/tune/trial_record.h"
#include "workbench/whole_file.h"

namespace teapot::workbench {
namespace {

constexpr const char* kSchema = R"(
BEGIN;
CREATE TABLE session(settings TEXT NOT NULL, result TEXT NOT NULL);
CREATE TABLE trials(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, first TEXT, prompts INTEGER, at TEXT NOT NULL, elapsed_s REAL NOT NULL,
  host TEXT NOT NULL, ask TEXT NOT NULL, answer TEXT NOT NULL);
CREATE TABLE loads(trial INTEGER NOT NULL REFERENCES trials(id), arm TEXT NOT NULL, parallel INTEGER NOT NULL, tpot_ms REAL NOT NULL,
  ttft_ms REAL NOT NULL, requests INTEGER NOT NULL, failed INTEGER NOT NULL, drafted INTEGER NOT NULL, accepted INTEGER NOT NULL,
  PRIMARY KEY(trial, arm, parallel)) WITHOUT ROWID;
CREATE TABLE starts(trial INTEGER NOT NULL REFERENCES trials(id), arm TEXT NOT NULL, start_s REAL NOT NULL, fault TEXT NOT NULL,
  version TEXT, PRIMARY KEY(trial, arm)) WITHOUT ROWID;
CREATE TABLE counters(trial INTEGER NOT NULL REFERENCES trials(id), arm TEXT NOT NULL, name TEXT NOT NULL, growth REAL NOT NULL,
  PRIMARY KEY(trial, arm, name)) WITHOUT ROWID;
CREATE TABLE verdicts(number INTEGER PRIMARY KEY, knob TEXT NOT NULL, value TEXT, verdict TEXT NOT NULL, phase TEXT NOT NULL,
  change_percent REAL, pairs INTEGER NOT NULL, adopted INTEGER NOT NULL, reason TEXT NOT NULL);
)";

std::string text_of(const Json& line, const char* field) {
  const auto found = line.find(field);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

struct ArmTables {
  SqliteWriter::Statement loads, starts, counters;
};

void write_start(SqliteWriter& writer, const ArmTables& tables, int64_t trial, std::string_view arm, double start_s, TrialFault fault,
                 const std::string& version) {
  writer.insert(tables.starts, trial, arm, start_s, kTrialFaultNames[static_cast<size_t>(fault)], std::string_view(version));
}

void write_arm(SqliteWriter& writer, const ArmTables& tables, int64_t trial, std::string_view name, const Arm& arm,
               const std::vector<uint32_t>& parallel) {
  write_start(writer, tables, trial, name, arm.start_s, arm.fault, arm.version);
  for (const auto& [counter, growth] : arm.counters) writer.insert(tables.counters, trial, name, std::string_view(counter), growth);
  for (size_t i = 0; i < arm.loads.size() && i < parallel.size(); ++i) {
    const TurnFigures& load = arm.loads[i];
    writer.insert(tables.loads, trial, name, int64_t{parallel[i]}, load.tpot_ms, load.ttft_ms, int64_t{load.requests}, int64_t{load.failed},
                  static_cast<int64_t>(load.drafted), static_cast<int64_t>(load.accepted));
  }
}

Status write_rows(const TuneSession& session, const std::string& path) {
  TEAPOT_TRY(const Json result, result_json(session));
  SqliteWriter writer(path);
  writer.run(kSchema);
  const auto sessions = writer.prepare("INSERT INTO session VALUES(?, ?)");
  const auto trials = writer.prepare("INSERT INTO trials VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const ArmTables tables = {writer.prepare("INSERT INTO loads VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                            writer.prepare("INSERT INTO starts VALUES(?, ?, ?, ?, ?)"),
                            writer.prepare("INSERT INTO counters VALUES(?, ?, ?, ?)")};
  const auto verdicts = writer.prepare("INSERT INTO verdicts VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  writer.insert(sessions, std::string_view(dump_json(to_json(session.settings))), std::string_view(dump_json(result)));
  const std::vector<uint32_t>& parallel = session.settings.search.parallel;
  for (size_t i = 0; i < session.lines.size() && writer.status(); ++i) {
    const Json& line = session.lines[i];
    const Json ask = line.value("ask", Json::object()), answer = line.value("answer", Json::object());
    const auto id = static_cast<int64_t>(i);
    const bool pair = ask.contains("pair");
    const std::string kind = pair ? text_of(ask, "pair") : "validate";
    const auto elapsed = line.find("elapsed_s"), prompts = ask.find("prompts");
    const bool numbered = prompts != ask.end() && prompts->is_number_unsigned();
    writer.insert(trials, id, std::string_view(kind), std::string_view(text_of(ask, "first")),
                  OrNull{.known = numbered, .value = numbered ? prompts->get<int64_t>() : 0}, std::string_view(text_of(line, "at")),
                  elapsed != line.end() && elapsed->is_number() ? elapsed->get<double>() : 0.0, std::string_view(text_of(line, "host")),
                  std::string_view(dump_json(ask)), std::string_view(dump_json(answer)));
    if (!pair) {
      TEAPOT_TRY(const Validation validation, parse_validation(answer));
      write_start(writer, tables, id, "", validation.start_s, validation.fault, validation.version);
      continue;
    }
    TEAPOT_TRY(const PairOutcome outcome, parse_pair_outcome(answer, parallel));
    write_arm(writer, tables, id, "a", outcome.a, parallel);
    write_arm(writer, tables, id, "b", outcome.b, parallel);
  }
  for (size_t i = 0; i < session.result.verdicts.size(); ++i) {
    const MoveVerdict& verdict = session.result.verdicts[i];
    std::optional<double> change;
    if (verdict.effect.pairs > 0) change = verdict.effect.percent();
    writer.insert(verdicts, static_cast<int64_t>(i), std::string_view(verdict.knob), std::string_view(verdict.value.value_or("")),
                  kMoveStateNames[static_cast<size_t>(verdict.state)], std::string_view(verdict.phase), change,
                  int64_t{verdict.effect.pairs}, int64_t{verdict.adopted}, std::string_view(verdict.reason));
  }
  writer.run("COMMIT");
  return writer.status();
}

}  // namespace

Status write_tune_sqlite(const TuneSession& session, const std::string& path) {
  TEAPOT_CHECK(remove_part(path));
  TEAPOT_CHECK(write_rows(session, part_of(path)));
  return put_in_place(path);
}

}  // namespace teapot::workbench
