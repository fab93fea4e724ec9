// Takes a reply apart while it is generated: reasoning, content, tool calls, in the order in which a client may be sent them.
//
// What was sent is never taken back, and however the reply is cut into pieces, the same comes out in the end. Everything is sent as
// early as the rules allow: text at once, but for white space and tags that a later character may explain; a call when its block
// is accepted. Rules: reasoning_parser.h, hermes_block.h, coder_block.h, content_joiner.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/reasoning_parser.h"
#include "text/tool_call_parser.h"

namespace teapot::text {

enum class ToolFormat { kNone, kHermes, kQwen3Coder };

// "none", "hermes", "qwen3_coder". Error (kInvalid): another name.
Result<ToolFormat> tool_format_named(std::string_view name);

struct OutputParserOptions {
  ToolFormat tool_format = ToolFormat::kNone;
  bool parse_reasoning = true;       // false: <think> is text like any other (/v1/completions)
  bool starts_in_reasoning = false;  // the prompt ended in <think>
};

struct ReasoningDelta {
  std::string text;
  friend bool operator==(const ReasoningDelta&, const ReasoningDelta&) = default;
};

struct ContentDelta {
  std::string text;
  friend bool operator==(const ContentDelta&, const ContentDelta&) = default;
};

struct ToolCallEvent {
  int index;  // 0, 1, ... of the reply's calls
  ToolCall call;
  friend bool operator==(const ToolCallEvent&, const ToolCallEvent&) = default;
};

using OutputEvent = std::variant<ReasoningDelta, ContentDelta, ToolCallEvent>;

class OutputParser {
 public:
  // tools: the request's, OpenAI tool objects (array or null): they give the types of parameters. Error (kInvalid): their form.
  static Result<OutputParser> create(const OutputParserOptions& options, const Json& tools);

  // Deltas are never empty. The text is UTF-8, in whole characters if the deltas shall be so.
  std::vector<OutputEvent> push(std::string_view piece);
  std::vector<OutputEvent> finish();

  // Whether what was read last is reasoning, as far as is known: for counting reasoning tokens.
  bool in_reasoning() const { return reasoning_ && reasoning_->in_reasoning(); }

 private:
  OutputParser() = default;
  void take(ReasoningParser::Split split, std::vector<OutputEvent>& events);
  void read_rest(std::string rest, std::vector<OutputEvent>& events);
  void add(std::vector<ToolCallParser::Part> parts, std::vector<OutputEvent>& events);

  std::optional<ReasoningParser> reasoning_;
  std::optional<ToolCallParser> calls_;  // none: the rest is content as it is
  bool leftover_told_ = false;
  int calls_sent_ = 0;
};

// The whole of a reply, put together from its events.
struct ParsedOutput {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> tool_calls;

  void add(std::vector<OutputEvent> events);
};

}  // namespace teapot::text
