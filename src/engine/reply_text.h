// From tokens to a reply: detokeniser, stop strings, reasoning and tool-call parsers in a row. One object a reply; not thread safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/request.h"
#include "engine/text_assets.h"
#include "text/detokenizer.h"
#include "text/output_parser.h"
#include "text/stop_strings.h"

namespace teapot::engine {

struct ReplyTextOptions {
  std::vector<std::string> stop = {};
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;
  bool parse_output = true;  // reasoning and tool calls; false: text is content, verbatim (completions)
  text::ToolFormat tool_format = text::ToolFormat::kNone;
  bool starts_in_reasoning = false;
  Json tools = Json::array();
};

class ReplyText {
 public:
  // assets must outlive it. kInvalid: an empty stop string, tools of a wrong form.
  static Result<ReplyText> create(const TextAssets& assets, ReplyTextOptions options);

  // What the token adds. When stopped() becomes true a stop string is complete: generation is to end.
  std::vector<text::OutputEvent> push(const TokenEvent& event);
  // What was held back; call once, at the end.
  std::vector<text::OutputEvent> finish(FinishReason reason);

  bool stopped() const { return stops_.matched(); }
  const std::string& matched_stop() const { return matched_; }     // empty if none
  uint32_t tokens() const { return tokens_; }                      // pushed so far
  uint32_t reasoning_tokens() const { return reasoning_tokens_; }  // those pushed while in reasoning

 private:
  ReplyText(text::Detokenizer detokenizer, text::StopStrings stops, std::optional<text::OutputParser> parser)
      : detokenizer_(std::move(detokenizer)), stops_(std::move(stops)), parser_(std::move(parser)) {}

  std::vector<text::OutputEvent> read(std::string piece);

  text::Detokenizer detokenizer_;
  text::StopStrings stops_;
  std::optional<text::OutputParser> parser_;  // none: everything is content
  std::string matched_;
  uint32_t tokens_ = 0;
  uint32_t reasoning_tokens_ = 0;
};

}  // namespace teapot::engine
