#include "workbench/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace teapot::workbench {
namespace {

// prefix: of the names, those of the objects around.
Status refuse_other_settings(const std::string& path, const std::string& prefix, const Json& then, const Json& now) {
  for (const auto& [name, value] : now.items()) {
    const auto old = then.find(name);
    if (old == then.end()) {
      return fail(ErrorKind::kInvalid, "{}: begun without {}{}, now {}; another folder begins anew", path, prefix, name, value.dump());
    }
    if (old->is_object() && value.is_object()) {
      TEAPOT_CHECK(refuse_other_settings(path, prefix + name + ".", *old, value));
    } else if (*old != value) {
      return fail(ErrorKind::kInvalid, "{}: begun with {}{} = {}, now {}; another folder begins anew", path, prefix, name, old->dump(),
                  value.dump());
    }
  }
  for (const auto& [name, value] : then.items()) {
    if (now.contains(name)) continue;
    return fail(ErrorKind::kInvalid, "{}: begun with {}{} = {}, now without; another folder begins anew", path, prefix, name, value.dump());
  }
  return {};
}

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

// Held until the file is closed. A file system that knows no locks doesn't keep us from writing.
Status lock(int file, const std::string& path) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return fail(ErrorKind::kBusy, "{}: another process is writing its ledger; expected one at a time",
              std::filesystem::path(path).parent_path().string());
}

// Makes the file and takes it away again, with the folders that weren't there.
Status expect_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error, ignored;
  std::vector<fs::path> missing;
  for (fs::path folder = fs::path(path).parent_path(); !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path()) {
    missing.push_back(folder);
  }
  if (!missing.empty()) fs::create_directories(missing.front(), error);
  const int file = error ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  const std::string why = error ? error.message() : reason();
  if (file >= 0) ::close(file), ::unlink(path.c_str());
  for (const fs::path& folder : missing) fs::remove(folder, ignored);
  return file >= 0 ? Status() : fail(ErrorKind::kIo, "{}: cannot be made: {}", path, why);
}

}  // namespace

Result<LedgerText> parse_ledger(std::string_view text, std::string_view source) {
  LedgerText result;
  for (size_t number = 1; result.whole_bytes < text.size(); ++number) {
    const size_t end = text.find('\n', result.whole_bytes);
    if (end == text.npos) break;
    const std::string where = fmt::format("{}, line {}", source, number);
    TEAPOT_TRY(Json line, parse_json(text.substr(result.whole_bytes, end - result.whole_bytes), where));
    if (!line.is_object()) return fail(ErrorKind::kInvalid, "{}: {}; expected an object", where, line.type_name());
    result.whole_bytes = end + 1;
    if (number > 1) {
      result.lines.push_back(std::move(line));
      continue;
    }
    const auto settings = line.find("settings");
    if (settings == line.end() || !settings->is_object()) {
      return fail(ErrorKind::kInvalid, "{}: no settings; expected {{\"settings\": {{...}}}}", where);
    }
    result.settings = std::move(*settings);
  }
  if (result.whole_bytes == 0) return fail(ErrorKind::kInvalid, "{}: no whole line; expected one with the settings", source);
  return result;
}

Status expect_ledger(const std::string& path, bool resume) {
  const bool there = std::filesystem::exists(path);
  if (there && !resume) return fail(ErrorKind::kInvalid, "{}: exists already; expected a new name, or --resume", path);
  if (!there && resume) return fail(ErrorKind::kNotFound, "{}: is not there; expected the ledger of the run to go on with", path);
  return resume ? Status() : expect_writable(path);
}

Result<Ledger> Ledger::create(const std::string& path, const Json& settings) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return fail(ErrorKind::kIo, "{}: its folder cannot be made: {}", path, error.message());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) return fail(ErrorKind::kInvalid, "{}: exists already; expected a new name, or --resume", path);
  if (file < 0) return fail(ErrorKind::kIo, "{}: cannot be made: {}", path, reason());
  Ledger ledger(path, file);
  TEAPOT_CHECK(lock(file, path));
  TEAPOT_CHECK(ledger.append({{"settings", settings}}));
  return ledger;
}

Result<Ledger> Ledger::resume(const std::string& path, const Json& settings, std::vector<Json>& lines) {
  const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);  // a pipe without a reader doesn't hold this up
  if (file < 0) return fail(errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo, "{}: cannot be opened: {}", path, reason());
  Ledger ledger(path, file);
  TEAPOT_CHECK(lock(file, path));
  TEAPOT_TRY(const std::string text, read_file(path));
  TEAPOT_TRY(LedgerText found, parse_ledger(text, path));
  TEAPOT_CHECK(refuse_other_settings(path, "", found.settings, settings));
  if (found.whole_bytes < text.size() && ::ftruncate(file, static_cast<off_t>(found.whole_bytes)) != 0) {
    return fail(ErrorKind::kIo, "{}: half a line at its end cannot be cut off: {}", path, reason());
  }
  lines = std::move(found.lines);
  return ledger;
}

Result<Ledger> Ledger::open(const std::string& path, bool resume, const Json& settings, const std::function<Status(const Json&)>& line) {
  if (!resume) return create(path, settings);
  std::vector<Json> lines;
  TEAPOT_TRY(Ledger ledger, Ledger::resume(path, settings, lines));
  for (size_t i = 0; i < lines.size(); ++i) {
    if (Status taken = line(lines[i]); !taken) return at(fmt::format("{}, line {}", path, i + 2), std::move(taken).error());
  }
  return ledger;
}

Ledger::~Ledger() {
  if (file_ >= 0) ::close(file_);
}

Status Ledger::append(const Json& line) {
  const std::string text = dump_json(line) + "\n";
  for (size_t written = 0; written < text.size();) {
    const ssize_t now = ::write(file_, text.data() + written, text.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return fail(ErrorKind::kIo, "{}: cannot be written: {}", path_, reason());
    written += static_cast<size_t>(now);
  }
  return {};
}

}  // namespace teapot::workbench
