// Prompts: exactly as long as asked for, all different, the same for the same seed; files in evalscope's formats.
#include "workbench/bench/dataset.h"

#include <set>

#include <gtest/gtest.h>

#include "base/file.h"
#include "temporary_folder.h"
#include "test_data.h"
#include "workbench/bench/prompt_length.h"
#include "workbench/bench/request_body.h"

namespace teapot::workbench {
namespace {

class Datasets : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto loaded = engine::TextAssets::load(testing::demo_model().string());
    ASSERT_TRUE(loaded) << loaded.error().message;
    text_ = std::make_unique<engine::TextAssets>(*std::move(loaded));
  }
  static void TearDownTestSuite() { text_.reset(); }

  static DatasetOptions random(uint32_t min, uint32_t max, uint64_t seed = 0) {
    DatasetOptions options;
    options.min_prompt_length = min;
    options.max_prompt_length = max;
    options.seed = seed;
    return options;
  }

  static std::vector<Prompt> make(const DatasetOptions& options, uint32_t count, uint32_t first = 0, const BodyOptions& body = {}) {
    auto prompts = make_prompts(options, text_.get(), body, count, first);
    EXPECT_TRUE(prompts) << prompts.error().message;
    return prompts ? *std::move(prompts) : std::vector<Prompt>{};
  }

  static Error error(const DatasetOptions& options, bool with_text, uint32_t count = 1, const BodyOptions& body = {}) {
    const auto prompts = make_prompts(options, with_text ? text_.get() : nullptr, body, count, 0);
    EXPECT_FALSE(prompts);
    return prompts ? Error{} : prompts.error();
  }

  std::string written(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file(folder_ / name, bytes));
    return folder_ / name;
  }

  static DatasetOptions file(const std::string& dataset, const std::string& path) {
    DatasetOptions options;
    options.dataset = dataset;
    options.path = path;
    return options;
  }

  static std::string content(const Prompt& prompt) { return prompt.messages.at(0).at("content").get<std::string>(); }

  static std::unique_ptr<engine::TextAssets> text_;
  testing::TemporaryFolder folder_;
};
std::unique_ptr<engine::TextAssets> Datasets::text_;

TEST_F(Datasets, RandomPromptsHaveExactlyTheirLength) {
  for (const uint32_t length : {12u, 13u, 64u, 1024u}) {
    std::set<std::string> seen;
    for (const Prompt& prompt : make(random(length, length), 8)) {
      EXPECT_EQ(prompt.tokens, length);
      EXPECT_EQ(count_prompt_tokens(*text_, request_json(prompt, {})), length) << "counted anew";
      EXPECT_TRUE(seen.insert(content(prompt)).second);
    }
  }
}

TEST_F(Datasets, TheTemplatesVariablesCount) {
  BodyOptions thinking;
  thinking.extra_args = {{"chat_template_kwargs", {{"enable_thinking", false}}}};
  for (const Prompt& prompt : make(random(40, 40), 4, 0, thinking)) {
    EXPECT_EQ(count_prompt_tokens(*text_, request_json(prompt, thinking)), 40u);
    EXPECT_NE(count_prompt_tokens(*text_, request_json(prompt, {})), 40u) << "without them it is another prompt";
  }
}

TEST_F(Datasets, CompletionsHaveNoTemplate) {
  BodyOptions body;
  body.chat = false;
  for (const Prompt& prompt : make(random(1, 5), 16, 0, body)) {
    EXPECT_TRUE(prompt.messages.is_null());
    const auto ids = text_->tokenizer.encode(prompt.text, true);
    ASSERT_TRUE(ids);
    EXPECT_EQ(ids->size(), prompt.tokens);
    EXPECT_GE(prompt.tokens, 1u);
    EXPECT_LE(prompt.tokens, 5u);
  }
}

TEST_F(Datasets, LengthsAreDrawnFromTheWholeRange) {
  std::map<uint32_t, int> lengths;
  for (const Prompt& prompt : make(random(30, 33), 200)) ++lengths[prompt.tokens];
  ASSERT_EQ(lengths.size(), 4u);
  for (const auto& [length, count] : lengths) {
    EXPECT_GE(length, 30u);
    EXPECT_LE(length, 33u);
    EXPECT_GT(count, 25) << "50 are expected";
  }
}

TEST_F(Datasets, ANumberIsAPromptOfItsSeed) {
  const auto ten = make(random(50, 60, 7), 10);
  const auto later = make(random(50, 60, 7), 4, 6);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(content(ten[6 + i]), content(later[i]));
  const auto other = make(random(50, 60, 8), 10);
  for (size_t i = 0; i < 10; ++i) EXPECT_NE(content(ten[i]), content(other[i]));
}

TEST_F(Datasets, APrefixIsSharedAndAddsToTheLength) {
  DatasetOptions options = random(40, 40);
  options.prefix_length = 20;
  const auto prompts = make(options, 5);
  for (const Prompt& prompt : prompts) {
    EXPECT_EQ(prompt.tokens, 60u);
    size_t shared = 0;
    while (content(prompt)[shared] == content(prompts[0])[shared] && content(prompt)[shared] != '\0') ++shared;
    const auto ids = text_->tokenizer.encode(content(prompt).substr(0, shared), true);
    ASSERT_TRUE(ids);
    EXPECT_GE(ids->size(), 19u);
  }
}

TEST_F(Datasets, WhatCannotBeMadeIsAnError) {
  EXPECT_NE(error(random(1024, 1024), false).message.find("--tokenizer-path"), std::string::npos);
  EXPECT_NE(error(random(3, 3), true).message.find("template alone"), std::string::npos);
  EXPECT_NE(error(random(0, 10), true).message.find("--min-prompt-length"), std::string::npos);
  EXPECT_EQ(error(random(20, 10), true).kind, ErrorKind::kInvalid);
  EXPECT_EQ(error(file("random", "x"), true).kind, ErrorKind::kInvalid);
  EXPECT_EQ(error(file("sharegpt", "x"), true).kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error(file("openqa", "/nowhere/at/all"), true).kind, ErrorKind::kNotFound);
  DatasetOptions no_path;
  no_path.dataset = "gsm8k";
  EXPECT_NE(error(no_path, true).message.find("--dataset-path"), std::string::npos);
}

TEST_F(Datasets, FilesAreReadInEvalscopesFormats) {
  const auto custom = make(file("custom", written("custom", "one\n\n  two words \r\n[3]")), 3);
  EXPECT_EQ(content(custom[1]), "two words");
  EXPECT_EQ(content(custom[2]), "[3]") << "text, whatever it looks like";

  const auto openqa = make(file("openqa", written("openqa", "{\"question\": \" why? \", \"human_answers\": []}\n")), 1);
  EXPECT_EQ(content(openqa[0]), "why?");

  const auto gsm8k = make(file("gsm8k", written("gsm8k", R"({"question": "2+3?", "answer": "2+3=5\n#### 5"})")), 1);
  EXPECT_EQ(content(gsm8k[0]), "2+3?");
  EXPECT_EQ(gsm8k[0].answer, "2+3=5\n#### 5");

  const std::string lines =
      "plain {text}\n[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"u\"}]\n"
      "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"temperature\": 0.5}\n[not json\n";
  const auto any = make(file("line_by_line", written("lines", lines)), 4);
  EXPECT_EQ(content(any[0]), "plain {text}");
  EXPECT_EQ(any[1].messages.size(), 2u);
  EXPECT_EQ(content(any[3]), "[not json");
  BodyOptions body;
  body.temperature = 1;
  body.max_tokens = 9;
  const Json whole = request_json(any[2], body);
  EXPECT_EQ(whole["temperature"], 0.5) << "the line's own";
  EXPECT_EQ(whole["max_tokens"], 9);
  for (const Prompt& prompt : any) EXPECT_EQ(count_prompt_tokens(*text_, request_json(prompt, body)), prompt.tokens);
}

TEST_F(Datasets, LengthsFilterFilesAndNumbersCountWhatIsLeft) {
  const std::string path = written("filter", "a\na b c d e f g h i j k l m n o p q r s t u v w x y z\nb\nc\n");
  DatasetOptions options = file("custom", path);
  options.max_prompt_length = 15;
  const auto prompts = make(options, 2, 1);
  EXPECT_EQ(content(prompts[0]), "b");
  EXPECT_EQ(content(prompts[1]), "c");
  EXPECT_NE(error(options, true, 4).message.find("found 3 prompts"), std::string::npos);
  EXPECT_NE(error(options, false).message.find("--tokenizer-path"), std::string::npos);
}

TEST_F(Datasets, ABrokenLineIsNamed) {
  for (const auto& [dataset, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"openqa", "{\"question\": \"a\"}\nnot json\n"},
                                                        {"openqa", "{\"question\": \"a\"}\n{\"question\": 3}\n"},
                                                        {"gsm8k", "{\"question\": \"a\", \"answer\": \"b\"}\n{\"question\": \"a\"}\n"},
                                                        {"custom", "a\n\xff\n"}}) {
    const Error found = error(file(dataset, written("broken", bytes)), true);
    EXPECT_EQ(found.kind, ErrorKind::kInvalid);
    EXPECT_NE(found.message.find("line 2"), std::string::npos) << found.message;
  }
}

TEST(RequestBody, FixedLengthsAreAskedForAndChecked) {
  Prompt prompt = prompt_of("hi", {});
  prompt.tokens = 11;
  BodyOptions options;
  options.model = "m";
  options.min_tokens = options.max_tokens = 64;
  options.temperature = 0;
  const LoadRequest request = make_request(prompt, options, true);
  const Json body = *parse_json(request.body, "body");
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(request.prompt_tokens, 11u);
  EXPECT_EQ(request.completion_tokens, 64u);
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(make_request(prompt, options, false).prompt_tokens, 0u);
  options.min_tokens = 0;
  EXPECT_EQ(make_request(prompt, options, true).completion_tokens, 0u) << "only a limit";
}

TEST(RequestBody, ExtraArgumentsHaveTheLastWord) {
  BodyOptions options;
  options.min_tokens = options.max_tokens = 64;
  options.stream = false;
  options.extra_args = {{"ignore_eos", false}, {"speculation", {{"depth", 0}}}};
  const LoadRequest request = make_request(prompt_of("hi", options), options, true);
  const Json body = *parse_json(request.body, "body");
  EXPECT_EQ(body["ignore_eos"], false);
  EXPECT_EQ(body["speculation"]["depth"], 0);
  EXPECT_FALSE(body.contains("stream_options"));
  EXPECT_FALSE(request.stream);
  EXPECT_EQ(request.completion_tokens, 0u);
}

}  // namespace
}  // namespace teapot::workbench
