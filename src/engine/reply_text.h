// From tokens to a reply: detokeniser, stop strings, reasoning and tool-call parsers in a row. One object a reply; not thread safe.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/request.h"
#include "engine/text_assets.h"
#include "text/output_parser.h"

namespace teapot::engine {

struct ReplyTextOptions {
  std::vector<std::string> stop;
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;
  bool parse_output = true;  // reasoning and tool calls; false: text is content, verbatim (completions)
  std::string tool_format = "none";
  bool starts_in_reasoning = false;
  Json tools = Json::array();
};

class ReplyText {
 public:
  ReplyText(const TextAssets& assets, ReplyTextOptions options);

  // What the token adds. When stopped() becomes true a stop string is complete: generation is to end.
  std::vector<text::OutputEvent> push(const TokenEvent& event);
  // What was held back; call once, at the end.
  std::vector<text::OutputEvent> finish(FinishReason reason);

  bool stopped() const;
  const std::string& matched_stop() const;  // empty if none
  uint32_t tokens() const;                  // pushed so far
  uint32_t reasoning_tokens() const;        // those pushed while in reasoning

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace teapot::engine
