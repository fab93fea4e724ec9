#include "text/output_parser.h"

#include <memory>
#include <utility>

#include "text/coder_block.h"
#include "text/hermes_block.h"

namespace teapot::text {

Result<ToolFormat> tool_format_named(std::string_view name) {
  if (name == "none") return ToolFormat::kNone;
  if (name == "hermes") return ToolFormat::kHermes;
  if (name == "qwen3_coder") return ToolFormat::kQwen3Coder;
  return fail(ErrorKind::kInvalid, "tool_format: '{}' is none of none, hermes, qwen3_coder", name);
}

Result<OutputParser> OutputParser::create(const OutputParserOptions& options, const Json& tools) {
  TEAPOT_TRY(ToolSchemas schemas, ToolSchemas::create(tools));
  OutputParser parser;
  std::string_view call_start;
  switch (options.tool_format) {
    case ToolFormat::kNone:
      break;
    case ToolFormat::kHermes:
      parser.calls_.emplace(std::make_unique<HermesBlockReader>());
      call_start = HermesBlockReader::kStart;
      break;
    case ToolFormat::kQwen3Coder:
      parser.calls_.emplace(std::make_unique<CoderBlockReader>(std::move(schemas)));
      call_start = CoderBlockReader::kStart;
      break;
  }
  if (options.parse_reasoning) parser.reasoning_.emplace(options.starts_in_reasoning, call_start);
  return parser;
}

std::vector<OutputEvent> OutputParser::push(std::string_view piece) {
  std::vector<OutputEvent> events;
  if (reasoning_) {
    take(reasoning_->push(piece), events);
  } else {
    read_rest(std::string(piece), events);
  }
  return events;
}

std::vector<OutputEvent> OutputParser::finish() {
  std::vector<OutputEvent> events;
  if (reasoning_) take(reasoning_->finish(), events);
  if (calls_) add(calls_->finish(), events);
  return events;
}

void OutputParser::take(ReasoningParser::Split split, std::vector<OutputEvent>& events) {
  if (!split.reasoning.empty()) events.emplace_back(ReasoningDelta{std::move(split.reasoning)});
  if (split.rest.empty()) return;
  if (calls_ && reasoning_ && reasoning_->ended_by_call() && !std::exchange(leftover_told_, true)) calls_->drop_think_close();
  read_rest(std::move(split.rest), events);
}

void OutputParser::read_rest(std::string rest, std::vector<OutputEvent>& events) {
  if (calls_) {
    add(calls_->push(rest), events);
  } else if (!rest.empty()) {
    events.emplace_back(ContentDelta{std::move(rest)});
  }
}

void OutputParser::add(std::vector<ToolCallParser::Part> parts, std::vector<OutputEvent>& events) {
  for (ToolCallParser::Part& part : parts) {
    if (!part.content.empty()) events.emplace_back(ContentDelta{std::move(part.content)});
    for (ToolCall& call : part.calls) events.emplace_back(ToolCallEvent{calls_sent_++, std::move(call)});
  }
}

void ParsedOutput::add(std::vector<OutputEvent> events) {
  for (OutputEvent& event : events) {
    if (auto* delta = std::get_if<ReasoningDelta>(&event)) reasoning += delta->text;
    if (auto* delta = std::get_if<ContentDelta>(&event)) content += delta->text;
    if (auto* call = std::get_if<ToolCallEvent>(&event)) tool_calls.push_back(std::move(call->call));
  }
}

}  // namespace teapot::text
