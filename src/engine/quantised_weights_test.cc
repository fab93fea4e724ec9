// The demo model (bf16) quantised while it is loaded: logits near those of its own weights, and replies that still make sense.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/collecting_sink.h"
#include "engine/evaluate.h"
#include "engine/load_engine.h"
#include "test_data.h"
#include "text/detokenizer.h"

namespace teapot::engine {
namespace {

struct Format {
  const char* name;
  double error;  // of a token's logits, relative: half of the tokens are nearer
  double same;   // of the replies' tokens, the share that is the likeliest still
};

class QuantisedWeights : public ::testing::TestWithParam<Format> {};

std::vector<float> logits(const std::vector<int32_t>& ids, const model::WeightOptions& weights) {
  auto model = model::load_model(testing::demo_model().string(), weights);
  EXPECT_TRUE(model) << model.error().message;
  const cpu::Options backend{.kv_dtype = "f32", .activations = "f32", .bind = "off"};
  const auto evaluator = Evaluator::create(*std::move(model), backend);
  EXPECT_TRUE(evaluator) << evaluator.error().message;
  const auto reports = (*evaluator)->switches();
  EXPECT_TRUE(std::ranges::any_of(reports, [&](const auto& s) { return s.name == "weights" && s.active == weights.weights; }));
  auto evaluation = (*evaluator)->run(ids, {});
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  return std::move(evaluation->logits);
}

double median_error(const std::vector<float>& values, const std::vector<float>& expected, size_t tokens) {
  const size_t vocab = values.size() / tokens;
  std::vector<double> errors;
  for (size_t token = 0; token < tokens; ++token) {
    double difference = 0, size = 0;
    for (size_t i = token * vocab; i < (token + 1) * vocab; ++i) {
      difference += std::pow(static_cast<double>(values[i]) - expected[i], 2);
      size += std::pow(static_cast<double>(expected[i]), 2);
    }
    errors.push_back(std::sqrt(difference / size));
  }
  std::ranges::sort(errors);
  return errors[tokens / 2];
}

Json questions() {
  const auto read = read_json_file(testing::test_data("demo_acceptance.json").string());
  EXPECT_TRUE(read) << read.error().message;
  return (*read)["questions"];
}

// With the reference's reply before it, the likeliest next token is nearly always the reference's.
TEST_P(QuantisedWeights, LogitsAreNearThoseOfTheFile) {
  const Json asked = questions();
  std::vector<int32_t> ids;
  size_t replies = 0, same = 0;
  for (const size_t question : {3, 11, 19, 27}) {
    const auto prompt = asked[question]["prompt_ids"].get<std::vector<int32_t>>();
    const auto reply = asked[question]["reply_ids"].get<std::vector<int32_t>>();
    ids = prompt;
    ids.insert(ids.end(), reply.begin(), reply.end());
    const auto values = logits(ids, {.weights = GetParam().name});
    EXPECT_LT(median_error(values, logits(ids, {}), ids.size()), GetParam().error);
    const size_t vocab = values.size() / ids.size();
    for (size_t i = 0; i < reply.size(); ++i) {
      const float* const row = values.data() + (prompt.size() - 1 + i) * vocab;
      same += std::max_element(row, row + vocab) - row == reply[i] ? 1 : 0;
    }
    replies += reply.size();
  }
  EXPECT_GE(static_cast<double>(same), GetParam().same * static_cast<double>(replies)) << same << " of " << replies;
}

TEST_P(QuantisedWeights, RepliesMakeSense) {
  EngineOptions options{.backend = {.bind = "off"}};
  options.weights.weights = GetParam().name;
  const auto loaded = load_engine(testing::demo_model().string(), options, true);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto prompt =
      loaded->text->tokenizer.encode("<|im_start|>user\nHello! How are you?<|im_end|>\n<|im_start|>assistant\n<think>\n", true);
  ASSERT_TRUE(prompt) << prompt.error().message;
  const auto sink = std::make_shared<CollectingSink>();
  ASSERT_TRUE(loaded->engine->submit({.prompt = *prompt, .sampling = {.temperature = 0}, .max_tokens = 100}, {sink}));
  EXPECT_EQ(sink->wait().reason, FinishReason::kStop);
  const std::string reply = text::decode(loaded->text->tokenizer, sink->ids(), false);
  EXPECT_NE(reply.find("</think>"), std::string::npos) << reply;
  EXPECT_NE(reply.find("Hello! How can I help you"), std::string::npos) << reply;
}

INSTANTIATE_TEST_SUITE_P(Demo, QuantisedWeights,
                         ::testing::Values(Format{"q8_0", 0.015, 0.985}, Format{"q6_k", 0.04, 0.97}, Format{"q4_k", 0.08, 0.95},
                                           Format{"q4_0", 0.1, 0.93}),
                         [](const auto& format) { return std::string(format.param.name); });

}  // namespace
}  // namespace teapot::engine
