#include "text/output_parser.h"

#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "test_data.h"

namespace teapot::text {
namespace {

Json read_tools() {
  std::ifstream file(testing::test_data("text/parser_tools.json"));
  return Json::parse(file);
}

Json parse(const OutputParserOptions& options, const Json& tools, const std::vector<std::string>& pieces) {
  Result<OutputParser> parser = OutputParser::create(options, tools);
  EXPECT_TRUE(parser) << parser.error().message;
  ParsedOutput parsed;
  for (const std::string& piece : pieces) parsed.add(parser->push(piece));
  parsed.add(parser->finish());
  Json calls = Json::array();
  for (const ToolCall& call : parsed.tool_calls) calls.push_back({{"name", call.name}, {"arguments", call.arguments}});
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"reasoning", or_null(parsed.reasoning)}, {"content", or_null(parsed.content)}, {"tool_calls", calls}};
}

struct Case {
  OutputParserOptions options;
  Json tools = Json::array();
  std::string text;
  Json expected;
  std::vector<std::vector<std::string>> cuts;
};

std::vector<Case> read_cases() {
  const Json tools = read_tools();
  std::vector<Case> cases;
  std::ifstream file(testing::test_data("text/parsers.jsonl"));
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    Case c{.options = {}, .text = json["text"], .expected = json["expected"], .cuts = json["cuts"]};
    c.options.tool_format = *tool_format_named(json["tool_format"].get<std::string>());
    c.options.starts_in_reasoning = json["starts_in_reasoning"];
    for (const std::string name : json["tools"]) c.tools.push_back(tools[name]);
    cases.push_back(std::move(c));
  }
  return cases;
}

TEST(OutputParser, GoldenCasesInAllCuts) {
  const std::vector<Case> cases = read_cases();
  EXPECT_EQ(cases.size(), 208U);
  for (const Case& c : cases) {
    for (const auto& pieces : c.cuts) EXPECT_EQ(parse(c.options, c.tools, pieces).dump(), c.expected.dump()) << c.text;
  }
}

// All golden texts, whole and with parts of others spliced in, so that broken and nested blocks come up, in random cuts of bytes.
TEST(OutputParser, EveryCutGivesTheSame) {
  const std::vector<Case> cases = read_cases();
  std::mt19937 rng(3);
  for (int round = 0; round < 4000; ++round) {
    const Case& c = cases[rng() % cases.size()];
    std::string text = c.text;
    for (unsigned splices = rng() % 3; splices > 0; --splices) {
      const std::string& other = cases[rng() % cases.size()].text;
      const size_t from = rng() % (other.size() + 1);
      text.insert(rng() % (text.size() + 1), other.substr(from, rng() % 40));
    }
    const Json whole = parse(c.options, c.tools, {text});
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size(); at += pieces.back().size()) pieces.push_back(text.substr(at, 1 + rng() % 12));
    ASSERT_EQ(dump_json(parse(c.options, c.tools, pieces)), dump_json(whole)) << text;
  }
}

struct Stream {
  explicit Stream(ToolFormat format, bool starts_in_reasoning = false)
      : parser(*OutputParser::create({.tool_format = format, .starts_in_reasoning = starts_in_reasoning}, Json())) {}

  // One push, and the text of the one delta that came of it.
  template <class Delta>
  std::string push(const std::string& piece) {
    const std::vector<OutputEvent> events = parser.push(piece);
    if (events.empty()) return "";
    EXPECT_EQ(events.size(), 1U);
    const auto* delta = std::get_if<Delta>(events.data());
    EXPECT_NE(delta, nullptr) << piece;
    return delta == nullptr ? "?" : delta->text;
  }

  OutputParser parser;
};

TEST(Streaming, WithoutToolsContentPassesAtOnce) {
  Stream stream(ToolFormat::kNone);
  EXPECT_EQ(stream.push<ContentDelta>("Hello "), "Hello ");
  EXPECT_EQ(stream.push<ContentDelta>("<tool_call>\n"), "<tool_call>\n");
}

TEST(Streaming, WithToolsOnlyWhiteSpaceAndWhatMayBeATagIsHeld) {
  Stream stream(ToolFormat::kHermes);
  EXPECT_EQ(stream.push<ContentDelta>("Hello "), "Hello");
  EXPECT_EQ(stream.push<ContentDelta>("you <"), " you");
  EXPECT_EQ(stream.push<ContentDelta>("b"), " <b");
  EXPECT_EQ(stream.push<ContentDelta>("<tool_call"), "");
  EXPECT_EQ(stream.push<ContentDelta>(">"), "");
  EXPECT_EQ(stream.push<ContentDelta>("[1"), "<tool_call>[1");  // no object: it can be no call
}

TEST(Streaming, ReasoningPassesWhileItIsTrimmed) {
  Stream stream(ToolFormat::kQwen3Coder, true);
  EXPECT_TRUE(stream.parser.in_reasoning());
  EXPECT_EQ(stream.push<ReasoningDelta>("\n"), "");
  EXPECT_EQ(stream.push<ReasoningDelta>("one "), "one");
  EXPECT_EQ(stream.push<ReasoningDelta>("<tool_call> "), "");
  EXPECT_EQ(stream.push<ReasoningDelta>("is a tag\n"), " <tool_call> is a tag");
  EXPECT_EQ(stream.push<ReasoningDelta>("</thin"), "");
  EXPECT_TRUE(stream.parser.in_reasoning());
  EXPECT_EQ(stream.push<ContentDelta>("k>"), "");
  EXPECT_FALSE(stream.parser.in_reasoning());
  EXPECT_EQ(stream.push<ContentDelta>("\n\n"), "");
  EXPECT_EQ(stream.push<ContentDelta>("two"), "two");
}

TEST(Streaming, ACallIsSentWhenItsBlockIsAccepted) {
  Stream stream(ToolFormat::kHermes);
  EXPECT_TRUE(stream.parser.push("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call").empty());
  const std::vector<OutputEvent> expected = {ToolCallEvent{0, {"f", {{"a", 1}}}}};
  EXPECT_EQ(stream.parser.push(">"), expected);
  EXPECT_TRUE(stream.parser.push("\n<tool_call>{\"name\": \"g\"}\n").empty());
  const std::vector<OutputEvent> second = {ToolCallEvent{1, {"g", Json::object()}}};
  EXPECT_EQ(stream.parser.finish(), second);
}

TEST(OutputParser, ReasoningCanBeLeftAlone) {
  const Json parsed = parse({.parse_reasoning = false}, Json(), {" <think>a</", "think>b"});
  EXPECT_EQ(parsed["content"], Json(" <think>a</think>b"));
  EXPECT_TRUE(parsed["reasoning"].is_null());
}

TEST(OutputParser, ToolsOfAnotherFormAreRefusedByTheirPlace) {
  const auto message = [](const char* tools) { return OutputParser::create({}, Json::parse(tools)).error().message; };
  EXPECT_TRUE(message("{}").starts_with("tools: "));
  EXPECT_TRUE(message("[{}]").starts_with("tools[0].function: "));
  EXPECT_TRUE(message(R"([{"function": {"name": "f"}}, {"function": {"name": 5}}])").starts_with("tools[1].function.name: "));
  EXPECT_FALSE(tool_format_named("xml"));
}

// Texts on which reading a block again and again, or a growing piece from its beginning, would take quadratic time: minutes.
TEST(OutputParser, TimeIsLinearForHostileText) {
  const auto repeat = [](const std::string& part, size_t bytes = 1 << 19) {
    std::string text;
    while (text.size() < bytes) text += part;
    return text;
  };
  const std::vector<std::string> texts = {
      repeat("<"),
      repeat("<tool_call>"),
      repeat(" "),
      "<tool_call>" + repeat(" "),
      repeat("<think>"),
      repeat("</think>"),
      repeat("<tool_call>{"),
      repeat("<tool_call>{\""),
      repeat("<tool_call>{\"a\":\""),
      repeat("<tool_call>\\\""),
      repeat("<tool_call>{\"name\":"),
      repeat("<tool_call>{\"name\":\"\"}x"),
      "<tool_call>{\"name\":\"" + repeat("<tool_call>"),
      "<tool_call>{\"a\":" + repeat("["),
      "<tool_call>{\"a\":" + repeat("0"),
      repeat("<tool_call><function=f>"),
      repeat("<tool_call><function=f"),
      repeat("<tool_call><function=f><parameter=p>"),
      repeat("<tool_call><function=f><parameter=p></parameter></function>"),
      repeat("<tool_call><function=f><parameter=p>\n") + "</parameter>x",
      repeat("<tool_call><function=f><parameter=p>", 1 << 18) + repeat("</parameter><parameter=q>") + "\n</tool_call",
      "<tool_call><function=f><parameter=p>" + repeat("\n<parameter"),
      "<tool_call><function=f>" + repeat("<parameter=p></parameter>"),
  };
  for (const std::string& text : texts) {
    for (const ToolFormat format : {ToolFormat::kHermes, ToolFormat::kQwen3Coder}) {
      for (const bool starts : {false, true}) {
        const OutputParserOptions options{.tool_format = format, .starts_in_reasoning = starts};
        std::vector<std::string> pieces;
        for (size_t at = 0; at < text.size(); at += 3) pieces.push_back(text.substr(at, 3));
        EXPECT_EQ(parse(options, Json(), pieces), parse(options, Json(), {text})) << text.substr(0, 50);
      }
    }
  }
}

}  // namespace
}  // namespace teapot::text
