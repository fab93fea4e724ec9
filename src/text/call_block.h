// What stands between <tool_call> and </tool_call>: one reader for each format that templates teach to the models.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace teapot::text {

struct ToolCall {
  std::string name;
  Json arguments;  // an object

  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

// Reads one block at a time, while its text grows.
class CallBlockReader {
 public:
  enum class Verdict {
    kOpen,       // it depends on what comes
    kAccepted,   // end() and calls() are set
    kMalformed,  // no continuation can make it a call; said as soon as it is so
  };

  virtual ~CallBlockReader() = default;

  // A block begins whose text starts at this byte of the reply. Blocks begin in the order of their places; a block may begin
  // inside one that was malformed.
  virtual void begin(size_t place) = 0;

  // The block's text from its beginning on, as far as it is there: each time the same and more. at_end: no more will come, and the
  // verdict is not kOpen. Time over all calls, and over blocks inside malformed ones, is linear in the text.
  virtual Verdict read(std::string_view text, bool at_end) = 0;

  // Of an accepted block: where in the text it ends, behind its closing tag if it has one.
  size_t end() const { return end_; }
  std::vector<ToolCall>& calls() { return calls_; }

 protected:
  size_t end_ = 0;
  std::vector<ToolCall> calls_;
};

}  // namespace teapot::text
