#include <gtest/gtest.h>

#include "server/chat_request.h"
#include "server/completion_request.h"

namespace teapot::server {
namespace {

const model::GenerationConfig kGeneration{
    .eos_ids = {7}, .do_sample = true, .temperature = 0.6, .top_p = 0.95, .min_p = {}, .repetition_penalty = {}, .top_k = 20};

ApiResult<ChatRequest> chat(const std::string& text) {
  const auto body = parse_body(text);
  if (!body) return std::unexpected(body.error());
  return parse_chat(*body, {"demo", kGeneration, 100, 4, 3});
}

std::string with(const std::string& fields) { return R"({"messages": [{"role": "user", "content": "hi"}], )" + fields + "}"; }

TEST(ChatRequest, TakesTheCheckpointsDefaults) {
  const auto request = chat(R"({"messages": [{"role": "user", "content": "hi"}]})");
  ASSERT_TRUE(request) << request.error().message;
  const auto& sampling = request->common.generate.sampling;
  EXPECT_FLOAT_EQ(sampling.temperature, 0.6f);
  EXPECT_FLOAT_EQ(sampling.top_p, 0.95f);
  EXPECT_EQ(sampling.top_k, 20);
  EXPECT_FALSE(request->common.stream);
  EXPECT_TRUE(request->context["tools"].is_null());
  EXPECT_TRUE(request->context["documents"].is_null());
  EXPECT_EQ(request->context["add_generation_prompt"], true);
}

TEST(ChatRequest, ReadsEveryField) {
  const auto request = chat(
      with(R"("model": "demo", "temperature": 0, "top_p": 0.5, "top_k": -1, "min_p": 0.1, "presence_penalty": 1, "frequency_penalty": -1,
    "repetition_penalty": 1.1, "seed": -5, "stop": ["a", "bc"], "stop_token_ids": [3], "ignore_eos": true, "min_tokens": 2, "max_completion_tokens": 9,
    "logprobs": true, "top_logprobs": 4, "logit_bias": {"5": -100}, "stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}, "n": 1,
    "chat_template_kwargs": {"enable_thinking": false}, "response_format": {"type": "text"}, "user": "somebody", "metadata": {"a": 1}, "tools": null)"));
  ASSERT_TRUE(request) << request.error().message;
  const auto& generate = request->common.generate;
  EXPECT_EQ(generate.sampling.temperature, 0);
  EXPECT_EQ(generate.sampling.top_k, 0);
  EXPECT_EQ(generate.sampling.seed, static_cast<uint64_t>(-5));
  EXPECT_EQ(generate.sampling.logit_bias.at(5), -100);
  EXPECT_EQ(generate.stop_token_ids, std::vector<int32_t>{3});
  EXPECT_TRUE(generate.ignore_eos);
  EXPECT_EQ(generate.min_tokens, 2u);
  EXPECT_EQ(generate.max_tokens, 9u);
  EXPECT_EQ(generate.top_logprobs, 4u);
  EXPECT_EQ(request->common.stop, (std::vector<std::string>{"a", "bc"}));
  EXPECT_TRUE(request->common.include_usage);
  EXPECT_TRUE(request->common.continuous_usage);
  EXPECT_EQ(request->context["enable_thinking"], false);
}

TEST(ChatRequest, AWrongFieldIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("temperature": "hot")", "temperature"},
      {R"("temperature": -0.1)", "temperature"},
      {R"("top_p": 0)", "top_p"},
      {R"("top_p": 1.01)", "top_p"},
      {R"("top_k": 1.5)", "top_k"},
      {R"("max_tokens": 0)", "max_tokens"},
      {R"("max_tokens": 18446744073709551615)", "max_tokens"},
      {R"("max_tokens": 1, "max_completion_tokens": 2)", "max_tokens"},
      {R"("max_tokens": 5, "min_tokens": 6)", "min_tokens"},
      {R"("seed": 1e3)", "seed"},
      {R"("stop": "")", "stop"},
      {R"("stop": [1])", "stop"},
      {R"("stop_token_ids": [100])", "stop_token_ids"},
      {R"("logit_bias": {"x": 1})", "logit_bias"},
      {R"("logit_bias": {"5": 101})", "logit_bias"},
      {R"("stream": 1)", "stream"},
      {R"("stream_options": {"include_usage": true})", "stream_options"},
      {R"("stream": true, "stream_options": {"include_usage": 1})", "stream_options.include_usage"},
      {R"("stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": 1})",
       "stream_options.continuous_usage_stats"},
      {R"("stream": true, "stream_options": {"continuous_usage_stats": true})", "stream_options.continuous_usage_stats"},
      {R"("n": 0)", "n"},
      {R"("n": 129)", "n"},
      {R"("n": "2")", "n"},
      {R"("logprobs": 3)", "logprobs"},
      {R"("top_logprobs": 3)", "top_logprobs"},
      {R"("logprobs": true, "top_logprobs": 21)", "top_logprobs"},
      {R"("tools": {})", "tools"},
      {R"("tools": [{"type": "function"}])", "tools[0].function"},
      {R"("tools": [{"type": "web"}])", "tools[0].type"},
      {R"("tool_choice": "required")", "tool_choice"},
      {R"("tool_choice": {"type": "function", "function": {"name": "f"}})", "tool_choice"},
      {R"("response_format": {"type": "json_schema"})", "response_format"},
      {R"("parallel_tool_calls": false)", "parallel_tool_calls"},
      {R"("chat_template_kwargs": [])", "chat_template_kwargs"},
  };
  for (const auto& [fields, param] : cases) {
    const auto request = chat(with(fields));
    ASSERT_FALSE(request) << fields;
    EXPECT_EQ(request.error().status, 400u) << fields;
    EXPECT_EQ(request.error().param, param) << request.error().message;
  }
}

TEST(ChatRequest, ChoicesThatCannotRunAtOnceAreRefusedWithBothNumbers) {
  EXPECT_EQ(chat(with(R"("temperature": 1)"))->common.choices, 1u);
  EXPECT_EQ(chat(with(R"("n": 4)"))->common.choices, 4u);
  const auto request = chat(with(R"("n": 5)"));
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().status, 400u);
  EXPECT_EQ(request.error().param, "n");
  EXPECT_EQ(request.error().message, "'n' is 5: this server runs at most 4 sequences at once (--max-seqs)");
}

TEST(ChatRequest, AnotherModelIsNotFound) {
  const auto request = chat(with(R"("model": "gpt")"));
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().status, 404u);
  EXPECT_EQ(request.error().code, "model_not_found");
}

TEST(ChatRequest, ToolChoiceNoneHidesTheTools) {
  const char* tools = R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])";
  EXPECT_EQ(chat(with(tools))->tools.size(), 1u);
  const auto none = chat(with(std::string(tools) + R"(, "tool_choice": "none")"));
  EXPECT_TRUE(none->tools.empty());
  EXPECT_TRUE(none->context["tools"].is_null());
}

TEST(ChatRequest, SpeculationHasADepth) {
  EXPECT_EQ(chat(with(R"("stream": false)"))->common.generate.draft_depth, std::nullopt);
  EXPECT_EQ(chat(with(R"("speculation": {"depth": 0})"))->common.generate.draft_depth, 0u);
  EXPECT_EQ(chat(with(R"("speculation": {"depth": 3})"))->common.generate.draft_depth, 3u);
  for (const char* bad : {"4", "9", "-1", "1.5", "\"2\"", "null"}) {
    const auto refused = chat(with(fmt::format(R"("speculation": {{"depth": {}}})", bad)));
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().param, "speculation.depth") << bad;
  }
  EXPECT_FALSE(chat(with(R"("speculation": {})")));
  EXPECT_FALSE(chat(with(R"("speculation": 2)")));
  EXPECT_FALSE(chat(with(R"("speculation": {"depth": 1, "draft_model": "x"})")));
}

TEST(ChatRequest, ABodyMustBeAnObject) {
  for (const char* body : {"", "[]", "1", "{", "{\"messages\": 1}", "{}"}) EXPECT_FALSE(chat(body)) << body;
}

TEST(CompletionRequest, PromptIsTextOrIds) {
  const auto parse = [](const char* text) { return parse_completion(*parse_body(text), {"demo", kGeneration, 100, 4, 3}); };
  EXPECT_EQ(std::get<std::string>(parse(R"({"prompt": "a"})")->prompt), "a");
  EXPECT_EQ(std::get<std::string>(parse(R"({"prompt": ["a"]})")->prompt), "a");
  EXPECT_EQ(std::get<std::vector<int32_t>>(parse(R"({"prompt": [1, 2]})")->prompt), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(std::get<std::vector<int32_t>>(parse(R"({"prompt": [[1, 2]]})")->prompt), (std::vector<int32_t>{1, 2}));
  for (const char* bad :
       {R"({})", R"({"prompt": []})", R"({"prompt": [1, "a"]})", R"({"prompt": [100]})", R"({"prompt": [-1]})", R"({"prompt": ["a", "b"]})",
        R"({"prompt": 5})", R"({"prompt": "a", "suffix": "b"})", R"({"prompt": "a", "best_of": 2})",
        R"({"prompt": "a", "n": 2, "best_of": 3})", R"({"prompt": "a", "n": 5})", R"({"prompt": "a", "logprobs": true})"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
  EXPECT_EQ(parse(R"({"prompt": "a", "n": 2, "best_of": 2})")->common.choices, 2u);
  EXPECT_TRUE(parse(R"({"prompt": "a", "echo": true, "logprobs": 0})")->common.generate.prompt_logprobs);
}

}  // namespace
}  // namespace teapot::server
