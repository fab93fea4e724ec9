// Rows of a CSV as it streams by: commas, fields in double quotes (a quote within is doubled, line ends within are kept), LF or CRLF, a
// byte order mark passed over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/trace/byte_stream.h"

namespace teapot::workbench::trace {

class CsvReader {
 public:
  explicit CsvReader(ByteStream& stream) : stream_(stream), piece_(size_t{64} << 10) {}

  // Fills `fields`; false at the end. An open quote at the end of the file is "truncated", a row of more than a megabyte "malformed".
  Read<bool> next(std::vector<std::string>& fields);
  uint64_t row() const { return row_; }  // of the last one, the header is 1

 private:
  Read<int> get();  // -1: the end

  ByteStream& stream_;
  std::vector<char> piece_;
  size_t used_ = 0, have_ = 0;
  bool begun_ = false;
  uint64_t row_ = 0;
};

}  // namespace teapot::workbench::trace
