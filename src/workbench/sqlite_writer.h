// Rows into an SQLite file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

// A whole number, or NULL. (An optional in its place looks uninitialised to GCC 12.)
struct OrNull {
  bool known = false;
  int64_t value = 0;
};

// The first error is kept, and what comes after it does nothing: rows are many, and each says where it stopped only once.
class SqliteWriter {
 public:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  explicit SqliteWriter(std::string path) : path_(std::move(path)) {
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

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
  int code_ = SQLITE_OK;
};

}  // namespace teapot::workbench
