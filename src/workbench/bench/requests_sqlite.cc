#include "workbench/bench/reports.h"
#include "workbench/sqlite_writer.h"

namespace teapot::workbench {
namespace {

constexpr const char* kSchema = R"(
BEGIN;
CREATE TABLE run(name TEXT NOT NULL, complete INTEGER NOT NULL, conditions TEXT NOT NULL);
CREATE TABLE loads(id INTEGER PRIMARY KEY, parallel INTEGER NOT NULL, rate REAL NOT NULL, wall_ns INTEGER NOT NULL,
  client_cpu_s REAL NOT NULL, summary TEXT NOT NULL);
CREATE TABLE requests(load INTEGER NOT NULL REFERENCES loads(id), number INTEGER NOT NULL, outcome TEXT NOT NULL, status INTEGER NOT NULL,
  error TEXT NOT NULL, start_ns INTEGER, first_ns INTEGER, last_ns INTEGER, end_ns INTEGER, ttft_ms REAL, tpot_ms REAL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cached_tokens INTEGER, drafted INTEGER, accepted INTEGER,
  finish_reason TEXT NOT NULL, content TEXT NOT NULL, reasoning TEXT NOT NULL, PRIMARY KEY(load, number));
CREATE TABLE chunks(load INTEGER NOT NULL, request INTEGER NOT NULL, number INTEGER NOT NULL, at_ns INTEGER NOT NULL, tokens INTEGER,
  PRIMARY KEY(load, request, number), FOREIGN KEY(load, request) REFERENCES requests(load, number)) WITHOUT ROWID;
)";

OrNull time_from(int64_t start_ns, int64_t at_ns) { return {.known = at_ns != 0, .value = at_ns - start_ns}; }

OrNull or_null(const std::optional<uint32_t>& value) { return {.known = value.has_value(), .value = value.value_or(0)}; }

void write_request(SqliteWriter& writer, const SqliteWriter::Statement& requests, const SqliteWriter::Statement& chunks, int64_t load,
                   int64_t start_ns, const RequestRecord& record) {
  const int64_t number = record.index;
  writer.insert(requests, load, number, kOutcomeNames[static_cast<size_t>(record.outcome)], int64_t{record.status},
                std::string_view(record.error), time_from(start_ns, record.start_ns), time_from(start_ns, record.first_ns),
                time_from(start_ns, record.last_ns), time_from(start_ns, record.end_ns), ttft_ms(record), tpot_ms(record),
                int64_t{record.prompt_tokens}, int64_t{record.completion_tokens}, or_null(record.cached_tokens), or_null(record.drafted),
                or_null(record.accepted), std::string_view(record.finish_reason), std::string_view(record.content),
                std::string_view(record.reasoning));
  for (size_t i = 0; i < record.chunks.size(); ++i) {
    const Chunk& chunk = record.chunks[i];
    const OrNull tokens{.known = chunk.tokens > 0, .value = chunk.tokens};
    writer.insert(chunks, load, number, static_cast<int64_t>(i), chunk.at_ns - start_ns, tokens);
  }
}

}  // namespace

Status write_requests_sqlite(const BenchRun& run, const std::string& path) {
  SqliteWriter writer(path);
  writer.run(kSchema);
  const SqliteWriter::Statement runs = writer.prepare("INSERT INTO run VALUES(?, ?, ?)");
  const SqliteWriter::Statement loads = writer.prepare("INSERT INTO loads VALUES(?, ?, ?, ?, ?, ?)");
  const SqliteWriter::Statement requests =
      writer.prepare("INSERT INTO requests VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const SqliteWriter::Statement chunks = writer.prepare("INSERT INTO chunks VALUES(?, ?, ?, ?, ?)");
  writer.insert(runs, std::string_view(run.name), int64_t{run.complete}, std::string_view(dump_json(run.conditions)));
  for (size_t i = 0; i < run.loads.size(); ++i) {
    const auto& [summary, result] = run.loads[i];
    const auto id = static_cast<int64_t>(i);
    writer.insert(loads, id, int64_t{result.parallel}, result.rate, result.end_ns - result.start_ns, result.client_cpu_s,
                  std::string_view(dump_json(to_json(summary))));
    for (const RequestRecord& record : result.records) write_request(writer, requests, chunks, id, result.start_ns, record);
    if (!writer.status()) break;
  }
  writer.run("COMMIT");
  return writer.status();
}

}  // namespace teapot::workbench
