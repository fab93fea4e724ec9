// One final HTTP reply out of a connection's bytes, however they are cut: with a length, in chunks, or up to the connection's end. Interim
// replies (100 Continue, 103 Early Hints) before it are skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

class HttpReplyParser {
 public:
  using Body = std::function<void(std::string_view piece)>;

  HttpReplyParser();
  ~HttpReplyParser();
  HttpReplyParser(const HttpReplyParser&) = delete;
  HttpReplyParser& operator=(const HttpReplyParser&) = delete;

  // Calls `body` for each piece of the body that these bytes bring. kInvalid: this is no HTTP; nothing may be fed after that.
  Status feed(std::string_view bytes, const Body& body);
  // The connection has ended; true if that was the reply's end.
  bool end_of_stream();

  // From the end of the head on.
  bool has_head() const;
  int status() const;
  const std::string& content_type() const;

  bool done() const;
  // The connection can take another request: done, the server keeps it open, and no bytes stand behind the reply.
  bool reusable() const;

 private:
  class Parser;  // Beast's, kept out of here: it takes seconds to compile

  std::unique_ptr<Parser> parser_;
  std::string unread_;  // bytes that the parser could not use yet
};

}  // namespace teapot::workbench
