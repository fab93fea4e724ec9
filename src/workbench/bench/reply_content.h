// What a reply's JSON says, event by event or whole, into the request's record: text, finish reason, tokens, speculation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "workbench/bench/request_record.h"

namespace teapot::workbench {

// Why a reply counts as failed.
struct Fault {
  Outcome outcome;
  std::string message;
};

// The message of an error's body: OpenAI's object, or the first bytes of whatever it is.
std::string server_error_text(std::string_view body);

class ReplyContent {
 public:
  // record must outlive it.
  ReplyContent(bool keep_text, RequestRecord& record) : keep_text_(keep_text), record_(record) {}

  // The data of one event of a stream, read at at_ns. A fault: not JSON, not what the protocol says, or the server's own error.
  std::optional<Fault> add_event(std::string_view data, int64_t at_ns);
  // A reply that is no stream: its body.
  std::optional<Fault> add_whole(std::string_view body, int64_t at_ns);

  bool done_marker() const { return done_marker_; }  // data: [DONE] has come
  bool finished() const { return finished_; }        // a finish_reason has come
  // The read that last brought a token, a finish_reason or [DONE]; 0: none did. Comments and empty events do not count.
  int64_t progress_ns() const { return progress_ns_; }
  // Whether each chunk told how many tokens it brought; else Chunk::tokens says nothing.
  bool chunks_tell_tokens() const { return chunks_told_ == record_.chunks.size(); }

 private:
  std::optional<Fault> add(const Json& reply, std::string_view text_field, int64_t at_ns, bool chunks);
  // Content, reasoning or tool calls: whether there was any.
  std::optional<Fault> add_text(const Json& message, bool& any);
  std::optional<Fault> add_usage(const Json& usage);
  std::optional<Fault> add_predictions(const Json& usage);
  std::optional<Fault> add_timings(const Json& reply);

  bool keep_text_;
  RequestRecord& record_;
  bool done_marker_ = false, finished_ = false;
  int64_t progress_ns_ = 0;
  bool timings_tell_drafts_ = false;
  uint32_t tokens_before_ = 0;  // that were told with the chunk before
  size_t chunks_told_ = 0;      // chunks whose event told usage
};

}  // namespace teapot::workbench
