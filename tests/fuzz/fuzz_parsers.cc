// Stop strings and output parsers over any bytes: however the text is cut, the same comes out, and nothing sent is taken back.
//
// Input: one byte of options, one byte that seeds the cuts, then the stop strings (a line), then the text.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "text/output_parser.h"
#include "text/stop_strings.h"

namespace {

using teapot::Json;
namespace text = teapot::text;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string_view> cut(std::string_view all, unsigned seed) {
  std::minstd_rand rng(seed);
  const size_t most = 1 + seed % 24;
  std::vector<std::string_view> pieces;
  while (!all.empty()) {
    pieces.push_back(all.substr(0, 1 + rng() % most));
    all.remove_prefix(pieces.back().size());
  }
  return pieces;
}

struct Stopped {
  std::string text;
  std::optional<std::string> matched;
};

Stopped stop(const std::vector<std::string>& stops, bool include, const std::vector<std::string_view>& pieces) {
  auto matcher = *text::StopStrings::create(stops, include);
  Stopped result;
  for (const std::string_view piece : pieces) result.text += matcher.push(piece).emitted;
  const auto finish = matcher.finish(text::StopStrings::End::kEos);
  result.text += finish.flush;
  result.matched = finish.matched;
  return result;
}

text::ParsedOutput parse(const text::OutputParserOptions& options, const Json& tools, const std::vector<std::string_view>& pieces) {
  auto parser = *text::OutputParser::create(options, tools);
  text::ParsedOutput result;
  for (const std::string_view piece : pieces) result.add(parser.push(piece));
  result.add(parser.finish());
  return result;
}

const Json& tools() {
  static const Json tools = Json::parse(R"([{"function": {"name": "f", "parameters": {"properties": {
      "a": {}, "b": {"type": ["boolean", "null", "integer"]}, "c": {"anyOf": [{"type": "object"}, {"type": "array"}]}}}}}])");
  return tools;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t flags = data[0];
  const unsigned seed = data[1];
  std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);

  std::vector<std::string> stops(1);
  const size_t line = input.find('\n');
  for (const char c : input.substr(0, line)) {
    if (c == '|') {
      stops.emplace_back();
    } else {
      stops.back() += c;
    }
  }
  std::erase_if(stops, [](const std::string& s) { return s.empty(); });
  input = line == std::string_view::npos ? std::string_view() : input.substr(line + 1);
  const auto pieces = cut(input, seed);

  const bool include = flags & 1;
  const Stopped whole = stop(stops, include, {input});
  const Stopped parts = stop(stops, include, pieces);
  require(whole.text == parts.text && whole.matched == parts.matched);
  require(input.starts_with(whole.text) && (whole.matched || whole.text == input));

  text::OutputParserOptions options;
  options.parse_reasoning = !(flags & 2);
  options.starts_in_reasoning = flags & 4;
  for (const auto format : {text::ToolFormat::kNone, text::ToolFormat::kHermes, text::ToolFormat::kQwen3Coder}) {
    options.tool_format = format;
    const auto once = parse(options, tools(), {input});
    const auto often = parse(options, tools(), pieces);
    require(once.reasoning == often.reasoning && once.content == often.content && once.tool_calls == often.tool_calls);
    if (format == text::ToolFormat::kNone && !options.parse_reasoning) require(once.content == input);
    for (const auto& call : once.tool_calls) require(call.arguments.is_object());
  }
  return 0;
}
