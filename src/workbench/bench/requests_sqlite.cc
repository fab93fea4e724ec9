#include <sqlite3.h>

#include <memory>

#include "workbench/bench/reports.h"

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

using Database = std::unique_ptr<sqlite3, decltype([](sqlite3* database) { sqlite3_close(database); })>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype([](sqlite3_stmt* statement) { sqlite3_finalize(statement); })>;

// A whole number, or NULL. (An optional in its place looks uninitialised to GCC 12.)
struct OrNull {
  bool known = false;
  int64_t value = 0;
};

// The first error is kept, and what comes after it does nothing: rows are many, and each says where it stopped only once.
class Writer {
 public:
  explicit Writer(std::string path) : path_(std::move(path)) {
    sqlite3* database = nullptr;
    code_ = sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(database);
  }

  void run(const char* sql) {
    if (code_ == SQLITE_OK) code_ = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  }

  Statement prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    if (code_ == SQLITE_OK) code_ = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    return Statement(statement);
  }

  template <class... Values>
  void insert(const Statement& statement, const Values&... values) {
    int column = 0;
    (bind(statement.get(), ++column, values), ...);
    if (code_ != SQLITE_OK) return;
    const int stepped = sqlite3_step(statement.get());
    code_ = stepped == SQLITE_DONE ? sqlite3_reset(statement.get()) : stepped;
  }

  Status status() const {
    if (code_ == SQLITE_OK) return {};
    const bool extended = database_ != nullptr && sqlite3_errcode(database_.get()) == code_;
    return fail(ErrorKind::kIo, "{}: SQLite: {}", path_, extended ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code_));
  }

 private:
  void check(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }
  void bind(sqlite3_stmt* statement, int column, int64_t value) {
    if (code_ == SQLITE_OK) check(sqlite3_bind_int64(statement, column, value));
  }
  void bind(sqlite3_stmt* statement, int column, double value) {
    if (code_ == SQLITE_OK) check(sqlite3_bind_double(statement, column, value));
  }
  // What is bound lives until the row is stepped.
  void bind(sqlite3_stmt* statement, int column, std::string_view value) {
    if (code_ == SQLITE_OK) check(sqlite3_bind_text64(statement, column, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void bind(sqlite3_stmt* statement, int column, const OrNull& value) {
    if (value.known) return bind(statement, column, value.value);
    if (code_ == SQLITE_OK) check(sqlite3_bind_null(statement, column));
  }
  void bind(sqlite3_stmt* statement, int column, const std::optional<double>& value) {
    if (value) return bind(statement, column, *value);
    if (code_ == SQLITE_OK) check(sqlite3_bind_null(statement, column));
  }

  std::string path_;
  Database database_;
  int code_ = SQLITE_OK;
};

OrNull time_from(int64_t start_ns, int64_t at_ns) { return {.known = at_ns != 0, .value = at_ns - start_ns}; }

OrNull or_null(const std::optional<uint32_t>& value) { return {.known = value.has_value(), .value = value.value_or(0)}; }

void write_request(Writer& writer, const Statement& requests, const Statement& chunks, int64_t load, int64_t start_ns,
                   const RequestRecord& record) {
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
  Writer writer(path);
  writer.run(kSchema);
  const Statement runs = writer.prepare("INSERT INTO run VALUES(?, ?, ?)");
  const Statement loads = writer.prepare("INSERT INTO loads VALUES(?, ?, ?, ?, ?, ?)");
  const Statement requests = writer.prepare("INSERT INTO requests VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const Statement chunks = writer.prepare("INSERT INTO chunks VALUES(?, ?, ?, ?, ?)");
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
