// Where the messages of a prompt end and the generation prompt begins.
#include <gtest/gtest.h>

#include "base/file.h"
#include "server/chat_request.h"
#include "test_data.h"

namespace teapot::server {
namespace {

const char* const kConversations[] = {
    R"({"messages": [{"role": "user", "content": "Hello!"}]})",
    R"({"messages": [{"role": "user", "content": "Hello!"}], "chat_template_kwargs": {"enable_thinking": false}})",
    R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "A \u00e9\n\n"}]})",
};

ApiResult<Json> context_of(const std::string& body) {
  const auto json = parse_body(body);
  if (!json) return std::unexpected(json.error());
  return chat_context(Fields(*json), Json::array());
}

class ChatPromptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(demo_)) GTEST_SKIP() << "not here: " << demo_;
    auto assets = engine::TextAssets::load(demo_.string());
    ASSERT_TRUE(assets) << assets.error().message;
    assets_.emplace(*std::move(assets));
  }

  void use_template(const std::string& source) {
    auto compiled = text::ChatTemplate::parse(source);
    ASSERT_TRUE(compiled) << compiled.error().message;
    assets_->chat_template = *std::move(compiled);
  }

  // The ids of the conversation without a generation prompt; message_end must say how many they are, or nothing.
  void expect_messages_end(const char* body, bool found) {
    auto context = context_of(body);
    ASSERT_TRUE(context) << context.error().message;
    const auto prompt = chat_prompt(*assets_, *context);
    ASSERT_TRUE(prompt) << prompt.error().message;
    EXPECT_EQ(prompt->ids, *assets_->tokenizer.encode(prompt->text, true));
    if (!found) {
      EXPECT_EQ(prompt->message_end, 0u) << body;
      return;
    }
    (*context)["add_generation_prompt"] = false;
    const auto messages = chat_prompt(*assets_, *context);
    ASSERT_TRUE(messages) << messages.error().message;
    EXPECT_EQ(messages->message_end, 0u) << "nothing comes after them";
    ASSERT_LT(messages->ids.size(), prompt->ids.size());
    EXPECT_EQ(prompt->message_end, messages->ids.size()) << body;
    EXPECT_TRUE(std::equal(messages->ids.begin(), messages->ids.end(), prompt->ids.begin())) << body;
  }

  std::filesystem::path demo_ = teapot::testing::demo_model();
  std::optional<engine::TextAssets> assets_;
};

TEST_F(ChatPromptTest, MessagesEndBeforeTheDemosGenerationPrompt) {
  for (const char* body : kConversations) expect_messages_end(body, true);
}

TEST_F(ChatPromptTest, AlsoWithOtherTemplates) {
  for (const char* name : {"chatml_plain.jinja", "chatml_default_system.jinja", "hermes_macros.jinja"}) {
    const auto source = read_file(teapot::testing::test_data(std::string("text/templates/") + name).string());
    ASSERT_TRUE(source) << source.error().message;
    use_template(*source);
    for (const char* body : kConversations) expect_messages_end(body, true);
  }
}

TEST_F(ChatPromptTest, NothingWhereTheTemplateChangesEarlierTextOrATokenReachesAcross) {
  use_template(
      "{% for m in messages %}{{ 'A: ' if add_generation_prompt else 'B: ' }}{{ m.content }}{% endfor %}{% if add_generation_prompt %}C:{% "
      "endif %}");
  expect_messages_end(kConversations[0], false);
  use_template("{% for m in messages %}Hel{% endfor %}{% if add_generation_prompt %}lo{% endif %}");
  ASSERT_EQ(assets_->tokenizer.encode("Hello", true)->size(), 1u);
  expect_messages_end(kConversations[0], false);
  use_template("{% for m in messages %}{{ m.content }}{% endfor %}");  // knows no generation prompt
  expect_messages_end(kConversations[0], false);
}

}  // namespace
}  // namespace teapot::server
