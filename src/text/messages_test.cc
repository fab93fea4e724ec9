#include "text/messages.h"

#include <gtest/gtest.h>

namespace teapot::text {
namespace {

std::string normal(const char* messages) {
  const auto result = normalize_messages(Json::parse(messages));
  return result ? dump_json(*result) : "error " + result.error().text();
}

std::string same(const char* json) { return dump_json(Json::parse(json)); }

// The field that an error names.
std::string field(const char* messages) {
  const auto result = normalize_messages(Json::parse(messages));
  return result ? "none" : result.error().field;
}

TEST(Messages, WhatIsInFormStays) {
  const char* messages = R"([{"role": "system", "content": "s"}, {"role": "user", "content": "u", "name": "n"},
    {"role": "assistant", "content": "a", "reasoning_content": "r"}, {"role": "tool", "tool_call_id": "1", "content": "t"}])";
  EXPECT_EQ(normal(messages), same(messages));
}

TEST(Messages, LeadingSystemAndDeveloperMessagesAreMerged) {
  EXPECT_EQ(normal(R"([{"role": "system", "content": "a"}, {"role": "developer", "content": [{"type": "text", "text": "b"}]},
                       {"role": "system", "content": ""}, {"role": "system", "content": "c"}, {"role": "user", "content": "u"}])"),
            same(R"([{"role": "system", "content": "a\n\nb\n\nc"}, {"role": "user", "content": "u"}])"));
  EXPECT_EQ(normal(R"([{"role": "user", "content": "u"}, {"role": "developer", "content": "d"}, {"role": "system", "content": "s"}])"),
            same(R"([{"role": "user", "content": "u"}, {"role": "system", "content": "d"}, {"role": "system", "content": "s"}])"));
}

TEST(Messages, PartsAreJoined) {
  EXPECT_EQ(normal(R"([{"role": "user", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}])"),
            same(R"([{"role": "user", "content": "a b"}])"));
}

TEST(Messages, PartsThatAreNotTextAreNamed) {
  for (const char* type : {"image_url", "input_audio", "video_url", "file"}) {
    const Json messages = {{{"role", "user"}, {"content", "x"}},
                           {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "a"}}, {{"type", type}}}}}};
    const auto result = normalize_messages(messages);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().field, "messages[1].content[1].type");
    EXPECT_NE(result.error().message.find(type), std::string::npos) << result.error().message;
  }
}

TEST(Messages, AnAssistantsContentMayBeLeftOut) {
  EXPECT_EQ(normal(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}])"),
            same(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}], "content": ""}])"));
  EXPECT_EQ(normal(R"([{"role": "assistant", "content": null, "reasoning_content": "r"}])"),
            same(R"([{"role": "assistant", "reasoning_content": "r", "content": ""}])"));
  EXPECT_EQ(normal(R"([{"role": "assistant", "content": null}])"), same(R"([{"role": "assistant", "content": ""}])"));
  EXPECT_EQ(field(R"([{"role": "assistant"}])"), "messages[0].content");
  EXPECT_EQ(field(R"([{"role": "assistant", "tool_calls": []}])"), "messages[0].content");
}

TEST(Messages, ArgumentsBecomeObjects) {
  const auto call = [](const std::string& arguments) {
    return R"([{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": )" +
           arguments + "}}]}]";
  };
  EXPECT_EQ(normal(call(R"("{\"b\": 1, \"a\": [null]}")").c_str()), same(call(R"({"b": 1, "a": [null]})").c_str()));
  EXPECT_EQ(normal(call(R"({"a": null})").c_str()), same(call(R"({"a": null})").c_str()));
  EXPECT_EQ(normal(call("null").c_str()), same(call("{}").c_str()));
  for (const char* bad : {R"("{\"a\": ")", R"("")", R"("[1]")", "[1]", "5"}) {
    EXPECT_EQ(field(call(bad).c_str()), "messages[0].tool_calls[0].function.arguments") << bad;
  }
}

TEST(Messages, BrokenCallsAreNamed) {
  EXPECT_EQ(field(R"([{"role": "assistant", "tool_calls": {}}])"), "messages[0].tool_calls");
  EXPECT_EQ(field(R"([{"role": "assistant", "tool_calls": [1]}])"), "messages[0].tool_calls[0]");
  EXPECT_EQ(field(R"([{"role": "assistant", "tool_calls": [{"type": "custom"}]}])"), "messages[0].tool_calls[0].type");
  EXPECT_EQ(field(R"([{"role": "assistant", "tool_calls": [{"id": "1"}]}])"), "messages[0].tool_calls[0].function");
  EXPECT_EQ(field(R"([{"role": "assistant", "tool_calls": [{"function": {}}]}])"), "messages[0].tool_calls[0].function.name");
  EXPECT_EQ(field(R"([{"role": "assistant", "content": "", "function_call": {}}])"), "messages[0].function_call");
}

TEST(Messages, ReasoningHasThreeNames) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    const Json given = {{{"role", "assistant"}, {"content", "a"}, {name, "r"}}};
    EXPECT_EQ(normal(given.dump().c_str()), same(R"([{"role": "assistant", "content": "a", "reasoning_content": "r"}])"));
  }
  EXPECT_EQ(normal(R"([{"role": "assistant", "content": "a", "thinking": "t", "reasoning": null, "reasoning_content": "r"}])"),
            same(R"([{"role": "assistant", "content": "a", "reasoning_content": "r"}])"));
  EXPECT_EQ(field(R"([{"role": "assistant", "content": "a", "thinking": 5}])"), "messages[0].thinking");
}

TEST(Messages, NullFieldsAreDropped) {
  EXPECT_EQ(normal(R"([{"role": "user", "content": "u", "name": null},
                       {"role": "assistant", "content": "a", "refusal": null, "audio": null, "function_call": null, "tool_calls": null}])"),
            same(R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}])"));
}

TEST(Messages, ErrorsNameTheField) {
  EXPECT_EQ(field("{}"), "messages");
  EXPECT_EQ(field("[]"), "messages");
  EXPECT_EQ(field(R"([{"role": "user", "content": "u"}, "x"])"), "messages[1]");
  EXPECT_EQ(field(R"([{"content": "u"}])"), "messages[0].role");
  EXPECT_EQ(field(R"([{"role": null, "content": "u"}])"), "messages[0].role");
  EXPECT_EQ(field(R"([{"role": "robot", "content": "u"}])"), "messages[0].role");
  EXPECT_EQ(field(R"([{"role": "user"}])"), "messages[0].content");
  EXPECT_EQ(field(R"([{"role": "user", "content": null}])"), "messages[0].content");
  EXPECT_EQ(field(R"([{"role": "tool", "content": {}}])"), "messages[0].content");
  EXPECT_EQ(field(R"([{"role": "user", "content": []}])"), "messages[0].content");
  EXPECT_EQ(field(R"([{"role": "user", "content": ["a"]}])"), "messages[0].content[0]");
  EXPECT_EQ(field(R"([{"role": "user", "content": [{"text": "a"}]}])"), "messages[0].content[0].type");
  EXPECT_EQ(field(R"([{"role": "user", "content": [{"type": "text"}]}])"), "messages[0].content[0].text");
}

TEST(TemplateContext, ToolsAndDocumentsAreNullWhenAbsent) {
  const char* expected = R"({"messages":[],"tools":null,"documents":null,"add_generation_prompt":true})";
  EXPECT_EQ(dump_json(build_template_context(Json::array(), Json(), Json(), Json(), true)), expected);
  EXPECT_EQ(dump_json(build_template_context(Json::array(), Json::array(), Json::array(), Json::object(), true)), expected);
}

TEST(TemplateContext, FurtherVariablesStandAtTheTop) {
  EXPECT_EQ(dump_json(build_template_context({"m"}, {"t"}, {"d"}, Json::parse(R"({"enable_thinking": false, "x": null})"), false)),
            R"({"messages":["m"],"tools":["t"],"documents":["d"],"add_generation_prompt":false,"enable_thinking":false,"x":null})");
}

}  // namespace
}  // namespace teapot::text
