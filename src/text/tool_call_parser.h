// Finds the calls in a reply as it grows: text goes on to the content, a block that follows its format becomes calls.
//
// A block that does not follow the format is text, tags and all, and parsing goes on right behind its <tool_call>: so its end needs no
// rule of its own. Only what may still become a call is held. Time is linear, whatever the text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/call_block.h"
#include "text/content_joiner.h"

namespace teapot::text {

class ToolCallParser {
 public:
  explicit ToolCallParser(std::unique_ptr<CallBlockReader> reader) : reader_(std::move(reader)) {}

  // The next part of what was read: content, then the calls of one block (either may be empty).
  struct Part {
    std::string content;
    std::vector<ToolCall> calls;
  };

  // See ContentJoiner.
  void drop_think_close() { content_.drop_think_close(); }

  std::vector<Part> push(std::string_view piece);
  std::vector<Part> finish();

 private:
  std::vector<Part> read(bool at_end);
  bool read_block(Part& part, bool at_end);

  std::unique_ptr<CallBlockReader> reader_;
  ContentJoiner content_;
  std::string buffer_;  // from begin_ on undecided: a block behind its <tool_call>, or what may become that tag
  size_t begin_ = 0;
  size_t dropped_ = 0;  // bytes of the reply in front of the buffer
  bool in_block_ = false;
};

}  // namespace teapot::text
