#include "workbench/trace/csv_reader.h"

#include <fmt/format.h>

#include "base/error.h"

namespace teapot::workbench::trace {
namespace {

constexpr size_t kMaxRow = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Read<int> CsvReader::get() {
  if (used_ == have_) {
    TEAPOT_TRY(have_, stream_.read(piece_));
    used_ = 0;
    if (have_ == 0) return -1;
  }
  return static_cast<unsigned char>(piece_[used_++]);
}

Read<bool> CsvReader::next(std::vector<std::string>& fields) {
  if (!begun_) {
    begun_ = true;
    TEAPOT_TRY(const std::string first, stream_.peek(kByteOrderMark.size()));
    for (size_t i = 0; first == kByteOrderMark && i < first.size(); ++i) TEAPOT_CHECK(get());
  }
  size_t count = 0, bytes = 0;  // fields keep their memory from row to row
  const auto field = [&]() -> std::string& {
    if (count == fields.size()) fields.emplace_back();
    return fields[count];
  };
  bool quoted = false, was_quoted = false, any = false;
  field().clear();
  ++row_;
  while (true) {
    TEAPOT_TRY(const int c, get());
    if (++bytes > kMaxRow) return refuse("malformed", fmt::format("{}: row {} has more than {} bytes", stream_.name(), row_, kMaxRow));
    if (c < 0) {
      if (quoted) {
        const uint64_t at = stream_.stored_bytes();
        return refuse("truncated", fmt::format("{}: the file ends at byte {}, within the quotes of row {}", stream_.name(), at, row_), {},
                      at);
      }
      fields.resize(any ? count + 1 : 0);
      return any;
    }
    any = true;
    if (quoted) {
      if (c == '"') {
        quoted = false;  // or the first one of two
      } else {
        field() += static_cast<char>(c);
      }
    } else if (c == '"' && (was_quoted || field().empty())) {
      if (was_quoted) field() += '"';
      quoted = was_quoted = true;
    } else if (c == ',') {
      ++count;
      field().clear();
      was_quoted = false;
    } else if (c == '\n') {
      fields.resize(count + 1);
      return true;
    } else if (c != '\r') {
      field() += static_cast<char>(c);
      was_quoted = false;
    }
  }
}

}  // namespace teapot::workbench::trace
