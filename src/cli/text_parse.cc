// teapot text parse: {"pieces", "tool_format", "starts_in_reasoning", "tools"} -> {"reasoning", "content", "tool_calls"}
#include <vector>

#include "cli/json_fields.h"
#include "cli/json_lines.h"
#include "cli/text_commands.h"
#include "text/output_parser.h"

namespace teapot::cli {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Result<Json> parse(const Json& line) {
  TEAPOT_TRY(const std::vector<std::string> pieces, string_list(line, "pieces"));
  TEAPOT_TRY(const std::string format, optional_string(line, "tool_format", "none"));
  text::OutputParserOptions options;
  TEAPOT_TRY(options.tool_format, text::tool_format_named(format));
  TEAPOT_TRY(options.starts_in_reasoning, optional_bool(line, "starts_in_reasoning", false));
  TEAPOT_TRY(auto parser, text::OutputParser::create(options, line.value("tools", Json())));

  text::ParsedOutput parsed;
  for (const std::string& piece : pieces) parsed.add(parser.push(piece));
  parsed.add(parser.finish());
  Json calls = Json::array();
  for (text::ToolCall& call : parsed.tool_calls) calls.push_back({{"name", call.name}, {"arguments", std::move(call.arguments)}});
  return Json{{"reasoning", text_or_null(parsed.reasoning)}, {"content", text_or_null(parsed.content)}, {"tool_calls", std::move(calls)}};
}

}  // namespace

void add_text_parse(CLI::App& text, int& exit_code) {
  CLI::App* command = text.add_subcommand("parse", "Take replies apart: reasoning, content, tool calls (JSON lines, stdin to stdout)");
  command->callback([&exit_code] { exit_code = run_json_lines(parse); });
}

}  // namespace teapot::cli
