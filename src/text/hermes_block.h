// The call format of Qwen3 and Hermes: <tool_call> {"name": ..., "arguments": {...}} </tool_call>.
//
// One JSON object and nothing else. `name` is a string; `arguments` an object, a string that holds one, null or missing (then {});
// other keys are ignored. Tags inside a JSON string are text. The closing tag may be missing at the end of the reply and before the
// next <tool_call>.
#pragma once

#include "text/call_block.h"
#include "text/json_scanner.h"

namespace teapot::text {

class HermesBlockReader : public CallBlockReader {
 public:
  // What makes a <tool_call> in the middle of reasoning the beginning of a call.
  static constexpr std::string_view kStart = "{";

  void begin(size_t place) override;
  Verdict read(std::string_view text, bool at_end) override;

 private:
  JsonObjectScanner json_;
  size_t pos_ = 0;         // bytes read
  bool complete_ = false;  // the object is, and it is a call
};

}  // namespace teapot::text
