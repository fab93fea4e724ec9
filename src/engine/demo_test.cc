// The demo model, end to end: its greedy replies are those of the reference (tests/data/demo_acceptance.json, torch in f32).
#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/collecting_sink.h"
#include "engine/load_engine.h"
#include "test_data.h"

namespace teapot::engine {
namespace {

// Replies that come closer to a tie than this may differ in the last bits of the logits and then in their tokens.
constexpr double kLeastGap = 1e-3;

TEST(Demo, GreedyRepliesAreTheReferences) {
  TEAPOT_NEEDS(testing::demo_model());
  const auto loaded = load_engine(testing::demo_model().string(), {.backend = {.kv_dtype = "f32", .bind = "off"}, .max_queue = 64}, true);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto reference = read_json_file(testing::test_data("demo_acceptance.json").string());
  ASSERT_TRUE(reference) << reference.error().message;
  const Json& questions = (*reference)["questions"];
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (const Json& question : questions) {
    sinks.push_back(std::make_shared<CollectingSink>());
    const auto expected = question["reply_ids"].get<std::vector<int32_t>>();
    const auto id = loaded->engine->submit({.prompt = question["prompt_ids"].get<std::vector<int32_t>>(),
                                            .sampling = {.temperature = 0},
                                            .max_tokens = static_cast<uint32_t>(expected.size())},
                                           {sinks.back()});
    ASSERT_TRUE(id) << id.error().message;
  }
  size_t compared = 0;
  for (size_t i = 0; i < sinks.size(); ++i) {
    EXPECT_NE(sinks[i]->wait().reason, FinishReason::kError);
    if (questions[i]["gap"].get<double>() < kLeastGap) continue;
    ++compared;
    EXPECT_EQ(sinks[i]->ids(), questions[i]["reply_ids"].get<std::vector<int32_t>>()) << "question " << i;
  }
  EXPECT_GE(compared, 31u);
}

}  // namespace
}  // namespace teapot::engine
