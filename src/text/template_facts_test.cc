#include "text/template_facts.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "test_data.h"

namespace teapot::text {
namespace {

TEST(TemplateFacts, FormatIsWhatTheTemplateWrites) {
  EXPECT_EQ(template_facts("{% if tools %}<tool_call>{{ c | tojson }}</tool_call>{% endif %}").tool_format, ToolFormat::kHermes);
  EXPECT_EQ(template_facts("{% if tools %}<tool_call>\n<function=' + c.name + '>{% endif %}").tool_format, ToolFormat::kQwen3Coder);
  EXPECT_EQ(template_facts("{% for m in messages %}{{ m.content }}{% endfor %}").tool_format, ToolFormat::kNone);
  EXPECT_EQ(template_facts("{{ tools }}").tool_format, ToolFormat::kNone);
}

TEST(TemplateFacts, NamesCountAsWholeWords) {
  EXPECT_TRUE(template_facts("{{ enable_thinking }}").has_thinking_switch);
  EXPECT_FALSE(template_facts("{{ enable_thinking_hard }}").has_thinking_switch);
  EXPECT_TRUE(template_facts("{{ preserve_thinking }}").has_preserve_thinking);
  EXPECT_FALSE(template_facts("{{ my_tools }}{{ tools_of_mine }}").takes_tools);
}

TEST(TemplateFacts, CheckpointsAreKnown) {
  const auto folder = testing::shared_data("templates");
  TEAPOT_NEEDS(folder);
  const auto facts_of = [&](const char* name) { return template_facts(read_file((folder / name).string()).value()); };
  EXPECT_EQ(facts_of("Qwen-Qwen3-0.6B.jinja").tool_format, ToolFormat::kHermes);
  EXPECT_EQ(facts_of("Qwen3-Coder.jinja").tool_format, ToolFormat::kQwen3Coder);
  EXPECT_EQ(facts_of("Qwen3.5-4B.jinja").tool_format, ToolFormat::kQwen3Coder);
  EXPECT_EQ(facts_of("Qwen3.6.jinja").tool_format, ToolFormat::kQwen3Coder);
  EXPECT_TRUE(facts_of("Qwen3.6.jinja").has_preserve_thinking);
  EXPECT_TRUE(facts_of("Qwen3.5-4B.jinja").has_thinking_switch);
  EXPECT_FALSE(facts_of("Qwen3-Coder.jinja").has_thinking_switch);
}

TEST(StartsInReasoning, PromptEndsInsideThink) {
  EXPECT_TRUE(starts_in_reasoning("<|im_start|>assistant\n<think>\n"));
  EXPECT_TRUE(starts_in_reasoning("<think>"));
  EXPECT_FALSE(starts_in_reasoning("<think>\n\n</think>\n\n"));
  EXPECT_FALSE(starts_in_reasoning("<|im_start|>assistant\n"));
  EXPECT_FALSE(starts_in_reasoning(""));
}

}  // namespace
}  // namespace teapot::text
