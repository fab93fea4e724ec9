#include "workbench/bench/reply_reader.h"

namespace teapot::workbench {
namespace {

constexpr size_t kMaxReplyBytes = size_t{256} << 20;  // no model's reply is longer, and no server may fill memory
constexpr size_t kErrorBodyBytes = size_t{64} << 10;  // of an error's body, the rest is dropped

bool is_event_stream(std::string_view content_type) {
  constexpr std::string_view kType = "text/event-stream";
  return content_type.starts_with(kType) &&
         (content_type.size() == kType.size() || content_type.substr(kType.size()).find_first_of("; ") == 0);
}

}  // namespace

void ReplyReader::feed(std::string_view bytes, int64_t at_ns) {
  if (done_) return;
  record_.end_ns = at_ns;
  const Status fed = http_.feed(bytes, [this, at_ns](std::string_view piece) { take_body(piece, at_ns); });
  if (http_.has_head()) record_.status = http_.status();
  if (done_) return;
  if (!fed) {
    end(Outcome::kNonsense, fed.error().message);
  } else if (http_.done()) {
    end_of_message();
  }
}

void ReplyReader::take_body(std::string_view piece, int64_t at_ns) {
  if (done_) return;
  if (http_.status() >= 400) {
    body_ += piece.substr(0, kErrorBodyBytes - std::min(body_.size(), kErrorBodyBytes));
    return;
  }
  if (http_.status() != 200) return;  // the end of the message says so
  body_bytes_ += piece.size();
  if (body_bytes_ > kMaxReplyBytes) return end(Outcome::kNonsense, fmt::format("a reply of more than {} bytes", kMaxReplyBytes));
  if (!request_.stream) {
    body_ += piece;
    return;
  }
  if (!is_event_stream(http_.content_type())) {
    return end(Outcome::kNonsense, fmt::format("found content type '{}'; expected text/event-stream", http_.content_type()));
  }
  const Status fed = sse_.feed(piece, [this, at_ns](const SseEvent& event) {
    if (done_ || content_.done_marker()) return;
    if (event.type == "error") return end(Outcome::kFailed, "the server says: " + server_error_text(event.data));
    if (auto fault = content_.add_event(event.data, at_ns)) end(fault->outcome, std::move(fault->message));
  });
  if (!fed && !done_) end(Outcome::kNonsense, fed.error().message);
}

void ReplyReader::end_of_stream(int64_t at_ns, std::string_view why) {
  if (done_) return;
  const bool whole = http_.end_of_stream();
  // A stream that lasts until the connection ends is whole only if it says so itself: the server may as well have died.
  if (whole && (!request_.stream || http_.status() != 200 || content_.done_marker() || content_.finished())) {
    record_.end_ns = at_ns;
    return end_of_message();
  }
  if (told()) return end_of_reply();
  record_.end_ns = at_ns;
  end(Outcome::kDied, fmt::format("the connection ended ({}) {}", why,
                                  record_.status == 0      ? "before a reply came"
                                  : record_.chunks.empty() ? "before the reply's first token"
                                  : content_.finished()    ? "after the last token, before the reply's end"
                                                           : fmt::format("after {} events with text", record_.chunks.size())));
}

void ReplyReader::stall(int64_t waiting_since_ns, int64_t at_ns) {
  const int64_t ms = (at_ns - waiting_since_ns) / 1'000'000;
  std::string_view missing = "no token came";
  if (!http_.has_head()) {
    missing = "no whole head of a reply came";
  } else if (content_.finished()) {
    missing = "the reply's end did not come";
  } else if (!request_.stream || http_.status() != 200) {
    missing = "no whole reply came";
  }
  std::string message = fmt::format("{} for {} ms", missing, ms);
  if (!record_.chunks.empty()) message += fmt::format(", after {} events with text", record_.chunks.size());
  give_up(Outcome::kStalled, std::move(message), at_ns);
}

void ReplyReader::give_up(Outcome outcome, std::string message, int64_t at_ns) {
  if (done_) return;
  if (told()) return end_of_reply();
  record_.end_ns = at_ns;
  end(outcome, std::move(message));
}

void ReplyReader::end_of_message() {
  const int status = http_.status();
  record_.status = status;
  if (status >= 400) {
    return end(status >= 500 ? Outcome::kFailed : Outcome::kRefused, fmt::format("status {}: {}", status, server_error_text(body_)));
  }
  if (status != 200) return end(Outcome::kNonsense, fmt::format("found status {}; expected 200", status));
  if (!request_.stream) {
    if (auto fault = content_.add_whole(body_, record_.end_ns)) return end(fault->outcome, std::move(fault->message));
  } else if (!content_.finished() && !(content_.done_marker() && !record_.chunks.empty())) {
    return end(Outcome::kNonsense,
               fmt::format("found the end of the stream after {} events with text; expected a finish_reason", record_.chunks.size()));
  }
  end_of_reply();
}

void ReplyReader::end_of_reply() {
  record_.status = http_.status();
  if (!content_.finished() && record_.chunks.empty())
    return end(Outcome::kNonsense, "found [DONE] at once; expected text or a finish_reason");
  check_lengths();
}

void ReplyReader::check_lengths() {
  const bool asked = request_.prompt_tokens != 0 || request_.completion_tokens != 0;
  if (asked && !record_.has_usage) {
    return end(Outcome::kNonsense,
               "found no usage in the reply; expected prompt_tokens and completion_tokens (stream_options.include_usage)");
  }
  if (request_.prompt_tokens != 0 && record_.prompt_tokens != request_.prompt_tokens) {
    return end(Outcome::kLength, fmt::format("found a prompt of {} tokens; expected {}", record_.prompt_tokens, request_.prompt_tokens));
  }
  if (request_.completion_tokens != 0 && record_.completion_tokens != request_.completion_tokens) {
    return end(Outcome::kLength, fmt::format("found a reply of {} tokens (finish_reason {}); expected {}", record_.completion_tokens,
                                             record_.finish_reason.empty() ? "none" : record_.finish_reason, request_.completion_tokens));
  }
  end(Outcome::kOk, "");
}

void ReplyReader::end(Outcome outcome, std::string message) {
  done_ = true;
  record_.outcome = outcome;
  record_.error = std::move(message);
  if (!content_.chunks_tell_tokens()) {
    for (Chunk& chunk : record_.chunks) chunk.tokens = 0;
  }
}

}  // namespace teapot::workbench
