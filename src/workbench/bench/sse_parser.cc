#include "workbench/bench/sse_parser.h"

#include <algorithm>

namespace teapot::workbench {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

Status SseParser::feed(std::string_view bytes, const std::function<void(const SseEvent& event)>& event) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  while (true) {
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > max_event_bytes_)
      return fail(ErrorKind::kInvalid, "a line of the event stream is longer than {} bytes", max_event_bytes_);
    if (end == bytes.npos) {
      line_ += piece;
      return {};
    }
    if (line_.empty()) {
      TEAPOT_CHECK(end_line(piece, event));
    } else {
      line_ += piece;
      TEAPOT_CHECK(end_line(line_, event));
      line_.clear();
    }
    const bool cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!cr) continue;
    if (bytes.empty()) {
      after_cr_ = true;
    } else if (bytes.front() == '\n') {
      bytes.remove_prefix(1);
    }
  }
}

Status SseParser::end_line(std::string_view line, const std::function<void(const SseEvent& event)>& event) {
  if (std::exchange(first_line_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    if (has_data_) event({type_, data_});
    data_.clear();
    type_.clear();
    has_data_ = false;
    return {};
  }
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (data_.size() + value.size() + 1 > max_event_bytes_)
      return fail(ErrorKind::kInvalid, "an event of the stream is longer than {} bytes", max_event_bytes_);
    if (has_data_) data_ += '\n';
    has_data_ = true;
    data_ += value;
  } else if (field == "event") {
    type_ = value;
  }
  return {};
}

}  // namespace teapot::workbench
