// From the bytes that a server sends in reply to one request to what became of it. Knows no socket, so that any bytes can be tried on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workbench/bench/http_reply.h"
#include "workbench/bench/load.h"
#include "workbench/bench/reply_content.h"
#include "workbench/bench/sse_parser.h"

namespace teapot::workbench {

class ReplyReader {
 public:
  // Both must outlive it. record: its start is the caller's; the rest is filled as bytes come.
  ReplyReader(const LoadRequest& request, bool keep_text, RequestRecord& record)
      : request_(request), record_(record), content_(keep_text, record) {}

  // The bytes that one read brought, and the moment when it returned.
  void feed(std::string_view bytes, int64_t at_ns);
  // The connection ended, by the server or by a fault of the network (why).
  void end_of_stream(int64_t at_ns, std::string_view why);
  // Whole replies show no tokens before their end.
  int64_t progress_ns() const { return content_.progress_ns(); }
  // The caller has waited long enough: kStalled, with what did not come since waiting_since_ns.
  void stall(int64_t waiting_since_ns, int64_t at_ns);
  // The caller ends the exchange: kCancelled.
  void give_up(Outcome outcome, std::string message, int64_t at_ns);

  // The record is complete: nothing more is to be read.
  bool done() const { return done_; }
  // The reply itself is complete, and only the end of its message is missing: not worth waiting long for.
  bool told() const { return content_.done_marker(); }
  // The connection can take the next request.
  bool reusable() const { return done_ && http_.reusable(); }

 private:
  void take_body(std::string_view piece, int64_t at_ns);
  void end(Outcome outcome, std::string message);
  void end_of_message();
  void end_of_reply();
  void check_lengths();

  const LoadRequest& request_;
  RequestRecord& record_;
  HttpReplyParser http_;
  SseParser sse_;
  ReplyContent content_;
  std::string body_;  // of an error, or of a reply that is no stream
  size_t body_bytes_ = 0;
  bool done_ = false;
};

}  // namespace teapot::workbench
