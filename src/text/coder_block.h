// The call format of Qwen3-Coder, Qwen3.5 and later:
//   <tool_call> <function=NAME> <parameter=KEY>VALUE</parameter> ... </function> </tool_call>
//
// White space between tags is ignored, names are trimmed. Several functions in one block are several calls. A value ends at the first
// </parameter>; also before a line that begins with <parameter=, </function> or </tool_call>. One line break is taken off each end of
// it, and the tool's schema gives its type. Of a parameter given twice the last counts. </function> may be missing before
// </tool_call>; behind </function> the closing tag may be missing at the end of the reply and before the next <tool_call>.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include "text/call_block.h"
#include "text/tool_schemas.h"

namespace teapot::text {

class CoderBlockReader : public CallBlockReader {
 public:
  // What makes a <tool_call> in the middle of reasoning the beginning of a call.
  static constexpr std::string_view kStart = "<function=";

  explicit CoderBlockReader(ToolSchemas schemas) : schemas_(std::move(schemas)) {}

  void begin(size_t place) override;
  Verdict read(std::string_view text, bool at_end) override;

 private:
  enum class Expect { kFunction, kFunctionName, kParameter, kParameterName, kValue, kNextFunction, kAccepted };
  enum class Found { kYes, kOpen, kNo };

  Found read_name(std::string_view text, std::string& name);
  Found find_value_end(std::string_view text);
  Found between_tags(std::string_view text, bool at_end);
  void set_parameter(std::string_view text);
  bool claim_value(size_t from, size_t to);

  ToolSchemas schemas_;
  Expect expect_ = Expect::kFunction;
  size_t pos_ = 0;          // bytes read
  size_t token_begin_ = 0;  // of the name or the value that is being read
  std::string parameter_;
  std::unordered_map<std::string, size_t> parameter_places_;  // in the arguments of the last call

  // Bytes of the reply, from marked_from_ on, that some block has read as part of a value. A block that comes to read such a byte
  // as part of a value shares the fate of the first, which was malformed. Without this, calls inside an unclosed value, each read
  // to the end of the reply, would take quadratic time.
  std::string marked_;
  size_t marked_from_ = 0;
  size_t place_ = 0;
};

}  // namespace teapot::text
