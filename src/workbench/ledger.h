// What a long run measured, one JSON object a line, appended as it comes: a run that was interrupted goes on from there. The first line
// holds the settings; a ledger of other settings is not gone on with. One process at a time writes (kBusy).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

struct LedgerText {
  Json settings;            // of the first line: {"settings": {...}}
  std::vector<Json> lines;  // objects
  size_t whole_bytes = 0;   // of the text, up to the end of its last whole line: a program that was killed may have left half a one
};

// kInvalid, with the line's number, for what isn't a ledger.
Result<LedgerText> parse_ledger(std::string_view text, std::string_view source);

// Whether a run may begin (resume: go on) with this file, before anything is started for it. kIo: no file can be made there.
Status expect_ledger(const std::string& path, bool resume);

class Ledger {
 public:
  // A new file (kInvalid where there is one already), its folder included.
  static Result<Ledger> create(const std::string& path, const Json& settings);
  // An existing one, cut behind its last whole line; its lines go to `lines`. kInvalid where a setting differs: the message names it with
  // both values.
  static Result<Ledger> resume(const std::string& path, const Json& settings, std::vector<Json>& lines);
  // Either of them. line: called for each line that is there; its errors get the line's number.
  static Result<Ledger> open(const std::string& path, bool resume, const Json& settings,
                             const std::function<Status(const Json& line)>& line);

  Ledger(Ledger&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  Ledger& operator=(Ledger&&) = delete;
  ~Ledger();

  // With the system when this returns: killing the program loses nothing.
  Status append(const Json& line);

  const std::string& path() const { return path_; }

 private:
  Ledger(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
};

}  // namespace teapot::workbench
