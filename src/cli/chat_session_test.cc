#include "cli/chat_session.h"

#include <gtest/gtest.h>

namespace teapot::cli {
namespace {

using Next = ChatSession::Next;

ChatSession session() { return ChatSession({}, Json::object()); }

TEST(ChatSession, KeepsTheHistory) {
  ChatSession chat = session();
  EXPECT_EQ(chat.read("hello").next, Next::kReply);
  chat.add_reply("hm", "hi");
  EXPECT_EQ(chat.read("and?").next, Next::kReply);
  EXPECT_EQ(chat.messages(), Json::parse(R"([{"role":"user","content":"hello"},
    {"role":"assistant","content":"hi","reasoning_content":"hm"},{"role":"user","content":"and?"}])"));
  chat.take_back();
  EXPECT_EQ(chat.messages().size(), 2u);
}

TEST(ChatSession, ResetAndSystemForget) {
  ChatSession chat = session();
  chat.read("hello");
  EXPECT_EQ(chat.read("/system be brief").next, Next::kRead);
  EXPECT_EQ(chat.messages(), Json::parse(R"([{"role":"system","content":"be brief"}])"));
  chat.read("hello");
  EXPECT_EQ(chat.read("/reset").next, Next::kRead);
  EXPECT_EQ(chat.messages().size(), 1u);
  chat.read("/system");
  EXPECT_TRUE(chat.messages().empty());
}

TEST(ChatSession, SetsParameters) {
  ChatSession chat = session();
  EXPECT_NE(chat.read("/set temperature 0.7").message.find("temperature 0.7"), std::string::npos);
  EXPECT_EQ(chat.sampling().temperature, 0.7f);
  chat.read("/set max_tokens 12");
  EXPECT_EQ(chat.max_tokens(), 12u);
  chat.read("/set thinking off");
  EXPECT_EQ(chat.template_kwargs()["enable_thinking"], false);
  EXPECT_NE(chat.read("/set").message.find("thinking off"), std::string::npos);
}

TEST(ChatSession, SaysWhatItCannotDo) {
  ChatSession chat = session();
  EXPECT_NE(chat.read("/set temperature warm").message.find("'warm'"), std::string::npos);
  EXPECT_NE(chat.read("/set warmth 3").message.find("warmth"), std::string::npos);
  EXPECT_NE(chat.read("/set thinking maybe").message.find("'maybe'"), std::string::npos);
  EXPECT_NE(chat.read("/dance").message.find("/dance"), std::string::npos);
  EXPECT_TRUE(chat.messages().empty());
}

TEST(ChatSession, EmptyLinesSayNothingAndASlashCanBeSaid) {
  ChatSession chat = session();
  EXPECT_EQ(chat.read("   ").next, Next::kRead);
  EXPECT_EQ(chat.read("//etc is a path").next, Next::kReply);
  EXPECT_EQ(chat.messages()[0]["content"], "/etc is a path");
  EXPECT_EQ(chat.read("/quit").next, Next::kQuit);
}

}  // namespace
}  // namespace teapot::cli
