#include "workbench/eval/gsm8k.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "temporary_folder.h"
#include "test_data.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kQuestions =
    R"({"question": "one and one?", "answer": "1 and 1 are <<1+1=2>>2.\n#### 2"}
{"question": "two and two?", "answer": "They are <<2+2=4>>4 and no <<more.\n#### 4"}

{"question": "a thousand?", "answer": "#### 1,000"}
{"question": "three and three?", "answer": "#### 6"}
{"question": "less than nothing?", "answer": "#### -1"})";

class Gsm8k : public ::testing::Test {
 protected:
  Gsm8k() { EXPECT_TRUE(write_file(path_, kQuestions)); }

  Gsm8kTask load(uint32_t shots, uint32_t limit = 0) {
    auto task = load_gsm8k(path_, shots, std::nullopt, limit);
    EXPECT_TRUE(task) << task.error().message;
    return task.value_or(Gsm8kTask{});
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "gsm8k.jsonl";
};

// A server that says what it is told to, in the order it is told to.
struct Script {
  std::map<std::string, std::string> replies;  // by what the question contains
  bool backwards = false;
  std::vector<std::string> asked = {};  // bodies

  Gsm8kHooks hooks(std::vector<Json>* kept = nullptr) {
    Gsm8kHooks hooks;
    hooks.send = [this](std::span<const LoadRequest> requests, const std::function<void(const RequestRecord&)>& done) -> Status {
      for (uint32_t i = 0; i < requests.size(); ++i) {
        const uint32_t index = backwards ? static_cast<uint32_t>(requests.size()) - 1 - i : i;
        asked.push_back(requests[index].body);
        const Json body = Json::parse(requests[index].body);
        const std::string question = body["messages"].back()["content"];
        RequestRecord record;
        record.index = index;
        record.outcome = Outcome::kDied;
        record.error = "the connection ended";
        for (const auto& [part, reply] : replies) {
          if (question.find(part) == question.npos) continue;
          record.outcome = Outcome::kOk;
          record.content = reply;
          record.finish_reason = reply.empty() ? "length" : "stop";
          record.completion_tokens = static_cast<uint32_t>(reply.size());
        }
        done(record);
      }
      return {};
    };
    if (kept != nullptr) {
      hooks.keep = [kept](const Json& line) -> Status {
        kept->push_back(line);
        return {};
      };
    }
    return hooks;
  }
};

const BodyOptions kBody{.model = "m", .max_tokens = 64, .temperature = 0, .top_p = {}, .seed = {}};

TEST_F(Gsm8k, TheExamplesAreTheFirstQuestionsAndAreNotScored) {
  const Gsm8kTask task = load(2);
  ASSERT_EQ(task.questions.size(), 3u);
  EXPECT_EQ(task.first, 2u);
  EXPECT_EQ(task.questions[0].answer, "1000");
  EXPECT_EQ(task.shots[0].solution, "1 and 1 are 2.\n#### 2");
  EXPECT_EQ(task.shots[1].solution, "They are 4 and no <<more.\n#### 4") << "a mark without an end is text";
  const Prompt prompt = gsm8k_prompt(task, 1);
  ASSERT_EQ(prompt.messages.size(), 5u);
  EXPECT_EQ(prompt.messages[1]["role"], "assistant");
  EXPECT_EQ(prompt.messages[1]["content"], "1 and 1 are 2.\n#### 2");
  EXPECT_TRUE(prompt.messages[4]["content"].get<std::string>().starts_with("three and three?\n\n"));
  EXPECT_TRUE(prompt.text.ends_with("Question: three and three?\nAnswer:"));
  EXPECT_EQ(load(0).questions.size(), 5u);
  EXPECT_EQ(load(1, 2).questions.size(), 2u);

  const auto elsewhere = load_gsm8k(path_, 1, path_, 0);
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->questions.size(), 5u);
  EXPECT_EQ(elsewhere->shots.size(), 1u);
  EXPECT_FALSE(load_gsm8k(path_, 5, std::nullopt, 0)) << "nothing left to score";
  EXPECT_FALSE(load_gsm8k(path_, 6, std::nullopt, 0));
}

TEST_F(Gsm8k, RepliesAreScoredByTheirFinalNumber) {
  const Gsm8kTask task = load(0);
  Script script{
      {{"one and one", "It is\n#### 2"}, {"two and two", "4.00"}, {"thousand", "#### 999"}, {"three and", "no idea"}, {"less", ""}}};
  Gsm8kReplies replies;
  const auto found = run_gsm8k(task, kBody, script.hooks(), replies);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->complete());
  EXPECT_EQ(found->correct, 2u);
  EXPECT_EQ(found->without_number, 2u);
  EXPECT_EQ(found->cut, 1u);
  EXPECT_EQ(found->accuracy(), 0.4);
  const std::string text = to_text(*found, task);
  EXPECT_NE(text.find("40.0 % (2 of 5), 95 % interval 11.8 to 76.9 %"), std::string::npos) << text;
  EXPECT_NE(script.asked[0].find("\"temperature\":0"), std::string::npos) << script.asked[0];
}

TEST_F(Gsm8k, TheHashIsOfTheRepliesAndNotOfTheirOrder) {
  const Gsm8kTask task = load(0);
  Script script{{{"?", "#### 2"}}};
  Gsm8kReplies forwards, backwards, other;
  const auto first = run_gsm8k(task, kBody, script.hooks(), forwards);
  script.backwards = true;
  const auto second = run_gsm8k(task, kBody, script.hooks(), backwards);
  script.replies["three"] = "##### 2";  // as right or wrong as before
  script.replies.erase("?");
  script.replies["one"] = script.replies["two"] = script.replies["thou"] = script.replies["less"] = "#### 2";
  const auto third = run_gsm8k(task, kBody, script.hooks(), other);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->reply_hash, second->reply_hash);
  EXPECT_EQ(first->correct, third->correct);
  EXPECT_NE(first->reply_hash, third->reply_hash);
}

TEST_F(Gsm8k, ARunThatIsGoneOnWithAsksWhatIsMissing) {
  const Gsm8kTask task = load(0);
  std::vector<Json> kept;
  Script poor{{{"one", "#### 2"}, {"three", "#### 6"}}};
  Gsm8kReplies replies;
  const auto part = run_gsm8k(task, kBody, poor.hooks(&kept), replies);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->finished, 2u);
  EXPECT_EQ(part->failed[static_cast<size_t>(Outcome::kDied)], 3u);
  EXPECT_EQ(part->first_error, "the connection ended");
  EXPECT_NE(to_text(*part, task).find("3 of 5 questions have no reply; died: 3"), std::string::npos) << to_text(*part, task);
  ASSERT_EQ(kept.size(), 5u);

  Gsm8kReplies replayed;
  for (const Json& line : kept) ASSERT_TRUE(add_gsm8k_line(Json::parse(dump_json(line)), task, replayed));
  Script rich{{{"?", "#### 4"}}};
  const auto whole = run_gsm8k(task, kBody, rich.hooks(&kept), replayed);
  ASSERT_TRUE(whole);
  EXPECT_EQ(rich.asked.size(), 3u) << "finished questions are not asked again";
  EXPECT_TRUE(whole->complete());
  EXPECT_EQ(whole->correct, 3u);

  Gsm8kReplies again;
  for (const Json& line : kept) ASSERT_TRUE(add_gsm8k_line(line, task, again)) << "the later line of a question counts";
  EXPECT_EQ(score(task, again).reply_hash, whole->reply_hash);
  Script silent;
  const auto nothing = run_gsm8k(task, kBody, silent.hooks(), again);
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(silent.asked.empty());
  EXPECT_EQ(nothing->reply_hash, whole->reply_hash);
}

TEST_F(Gsm8k, LinesThatAreNoneAreNamed) {
  const Gsm8kTask task = load(0);
  Gsm8kReplies replies;
  const auto message = [&](const Json& line) {
    const Status added = add_gsm8k_line(line, task, replies);
    return added ? "" : added.error().message;
  };
  EXPECT_NE(message(Json::array()).find("array"), std::string::npos);
  EXPECT_NE(message({{"question", -1}}).find("'question'"), std::string::npos);
  EXPECT_NE(message({{"question", 1}, {"outcome", "good"}}).find("'good'"), std::string::npos);
  EXPECT_NE(message({{"question", 1}, {"outcome", "ok"}}).find("'content'"), std::string::npos);
  EXPECT_EQ(message({{"question", 99}, {"outcome", "died"}, {"error", ""}}), "");
  EXPECT_TRUE(replies.empty());

  const auto parse = [](std::string_view text) {
    const auto parsed = parse_gsm8k(text, "file");
    return parsed ? "" : parsed.error().message;
  };
  EXPECT_NE(parse("\n{}\n").find("file, line 2: no string 'question'"), std::string::npos);
  EXPECT_NE(parse(R"({"question": "?", "answer": "none"})").find("without a number"), std::string::npos);
  EXPECT_NE(parse("nonsense").find("file, line 1"), std::string::npos);
}

TEST(Gsm8kData, EverySolutionOfTheTestSetHasItsAnswer) {
  const auto path = testing::shared_data("gsm8k/test.jsonl");
  TEAPOT_NEEDS(path);
  const auto task = load_gsm8k(path, 4, std::nullopt, 0);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->questions.size(), 1319u - 4);
  const auto with_minus =
      std::ranges::count_if(task->questions, [](const Gsm8kQuestion& question) { return question.answer.starts_with('-'); });
  EXPECT_EQ(with_minus, 2);
  EXPECT_TRUE(
      std::ranges::none_of(task->questions, [](const Gsm8kQuestion& question) { return question.answer.find(',') != std::string::npos; }));
}

TEST(Wilson, KnowsTheTextbooksIntervals) {
  const ShareInterval half = wilson_95(5, 10);
  EXPECT_NEAR(half.low, 0.2365931, 1e-6);
  EXPECT_NEAR(half.high, 0.7634069, 1e-6);
  const ShareInterval none = wilson_95(0, 10);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.2775328, 1e-6);
  EXPECT_EQ(wilson_95(10, 10).high, 1);
  EXPECT_NEAR(wilson_95(10, 10).low, 1 - none.high, 1e-12);
  EXPECT_EQ(wilson_95(0, 0).low, 0);
  EXPECT_EQ(wilson_95(0, 0).high, 1);
}

}  // namespace
}  // namespace teapot::workbench
