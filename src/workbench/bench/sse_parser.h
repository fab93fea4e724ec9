// Server-sent events out of a stream's bytes, however these are cut: lines may end in CR, LF or both, and at any byte a read may stop.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

struct SseEvent {
  std::string_view type;  // of an `event` line; empty: none
  std::string_view data;  // of all its `data` lines, joined by LF
};

class SseParser {
 public:
  // max_event_bytes: a line, or an event's data, that is longer is an error, so that no server can fill memory.
  explicit SseParser(size_t max_event_bytes = size_t{4} << 20) : max_event_bytes_(max_event_bytes) {}

  // Calls `event` for each event that these bytes complete; what it is given is valid only within the call. Events without data are
  // none, comments and unknown fields are skipped, and an event that the stream's end cuts off is never told (all by the standard).
  // kInvalid: over the bound; nothing may be fed after that.
  Status feed(std::string_view bytes, const std::function<void(const SseEvent& event)>& event);

 private:
  Status end_line(std::string_view line, const std::function<void(const SseEvent& event)>& event);

  size_t max_event_bytes_;
  std::string line_;  // the beginning of one that has not ended
  std::string data_, type_;
  bool has_data_ = false;
  bool after_cr_ = false;  // an LF that comes now belongs to the CR before it
  bool first_line_ = true;
};

}  // namespace teapot::workbench
