// teapot text stop: {"pieces", "stop", "include_stop_str_in_output", "end"} -> {"emitted", "flush", "text", "finish_reason", "matched"}
#include <vector>

#include "cli/json_fields.h"
#include "cli/json_lines.h"
#include "cli/text_commands.h"
#include "text/stop_strings.h"

namespace teapot::cli {
namespace {

Result<Json> stop(const Json& line) {
  TEAPOT_TRY(const std::vector<std::string> pieces, string_list(line, "pieces"));
  TEAPOT_TRY(std::vector<std::string> stops, string_list(line, "stop"));
  TEAPOT_TRY(const bool include, optional_bool(line, "include_stop_str_in_output", false));
  TEAPOT_TRY(const std::string end, optional_string(line, "end", "eos"));
  if (end != "eos" && end != "length") return fail(ErrorKind::kInvalid, "end: '{}' is neither eos nor length", end);
  TEAPOT_TRY(auto matcher, text::StopStrings::create(std::move(stops), include));

  Json emitted = Json::array();
  std::string whole;
  for (const std::string& piece : pieces) {
    const auto got = matcher.push(piece);
    emitted.push_back(got.emitted);
    whole += got.emitted;
    if (got.matched) break;
  }
  const auto finish = matcher.finish(end == "length" ? text::StopStrings::End::kLength : text::StopStrings::End::kEos);
  return Json{{"emitted", std::move(emitted)},
              {"flush", finish.flush},
              {"text", whole + finish.flush},
              {"finish_reason", finish.finish_reason},
              {"matched", finish.matched ? Json(*finish.matched) : Json()}};
}

}  // namespace

void add_text_stop(CLI::App& text, int& exit_code) {
  CLI::App* command = text.add_subcommand("stop", "Cut pieces of text at stop strings (JSON lines, stdin to stdout)");
  command->callback([&exit_code] { exit_code = run_json_lines(stop); });
}

}  // namespace teapot::cli
