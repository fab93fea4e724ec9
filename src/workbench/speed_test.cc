#include "workbench/speed.h"

#include <gtest/gtest.h>

#include <memory>

#include "cpu/backend.h"
#include "test_data.h"
#include "workbench/allocations.h"

namespace teapot::workbench {
namespace {

TEST(Allocations, AreCountedWhileSomebodyAsks) {
  const auto before = std::make_unique<int>(1);
  const AllocationCount count;
  EXPECT_EQ(count.count(), 0u);
  const auto one = std::make_unique<int>(*before);
  struct alignas(128) Wide {
    int value;
  };
  const auto two = std::make_unique<Wide>(Wide{*one});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(two.get()) % 128, 0u);
  EXPECT_EQ(count.count(), 2u);
}

TEST(Floor, IsTheLargerOfBytesAndArithmetic) {
  const RoofSample roof{50, 1000, 1000, 100};  // GB/s, GMAC/s
  const plan::OpTraffic traffic{
      .weight_bytes = 400'000'000, .state_bytes = 60'000'000, .kv_bytes = 40'000'000, .int8_macs = 4'000'000'000, .f32_macs = 100'000'000};
  const Floor floor = roof.floor(traffic);
  EXPECT_DOUBLE_EQ(floor.bytes_ms, 10);
  EXPECT_DOUBLE_EQ(floor.arithmetic_ms, 5);
  EXPECT_DOUBLE_EQ(floor.ms(), 10);
  EXPECT_TRUE(floor.by_bytes());
  EXPECT_FALSE((Floor{1, 2}).by_bytes());
}

class DemoSpeed : public ::testing::Test {
 protected:
  static constexpr uint64_t kReadBytes = 8u << 20;

  Result<Speed> measure(const SpeedOptions& options) {
    TEAPOT_TRY(const model::Model model, model::load_model(teapot::testing::demo_model().string()));
    cpu::Options backend_options;
    backend_options.threads = 2;
    backend_options.bind = "off";
    TEAPOT_TRY(const auto backend, cpu::create_backend(backend_options));
    TEAPOT_CHECK(backend->load(model.weights, model.layout, {}));
    return measure_speed(model, *backend, options, [](const std::string&) {});
  }
};

TEST_F(DemoSpeed, CountsAndHashesAreOfTheWorkAlone) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  const SpeedOptions options{.concurrency = {1, 3}, .prompt = 20, .gen = 4, .repeat = 3, .prefill_chunk = 8, .read_bytes = kReadBytes};
  const auto speed = measure(options);
  ASSERT_TRUE(speed) << speed.error().message;
  EXPECT_EQ(speed->prefill.prompts, 4u);
  ASSERT_EQ(speed->decode.size(), 2u);
  for (const DecodeSpeed& decode : speed->decode) {
    EXPECT_EQ(decode.steps, 12u);
    EXPECT_EQ(decode.plan_hits, 12u);
    EXPECT_EQ(decode.plan_misses, 0u);
    EXPECT_EQ(decode.allocations, 0u) << decode.c;
    EXPECT_GT(decode.roof_percent.median, 0);
    EXPECT_LE(decode.ms.min, decode.ms.median);
    EXPECT_LE(decode.ms.median, decode.ms.max);
  }
  // Another run, other chunks: the same tokens and logits.
  const auto again = measure({.concurrency = {3}, .prompt = 20, .gen = 4, .repeat = 3, .prefill_chunk = 20, .read_bytes = kReadBytes});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->decode[0].token_hash, speed->decode[1].token_hash);
  EXPECT_EQ(again->decode[0].logits_hash, speed->decode[1].logits_hash);
  EXPECT_NE(again->decode[0].logits_hash, speed->decode[0].logits_hash);

  const Json json = to_json(*speed);
  EXPECT_EQ(json["decode"][1]["c"], 3);
  EXPECT_TRUE(json["levers"].contains("isa"));
  const auto same = compare(json, json);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_TRUE((*same)["results_equal"].get<bool>());
  EXPECT_EQ((*same)["decode"][0]["ms_ratio"], 1.0);
  EXPECT_EQ(compare(to_json(*again), json).error().kind, ErrorKind::kInvalid);
}

TEST_F(DemoSpeed, UnusableWorkIsRefused) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  for (const SpeedOptions& options : {SpeedOptions{.concurrency = {}}, SpeedOptions{.concurrency = {0}}, SpeedOptions{.gen = 0}}) {
    const auto speed = measure(options);
    ASSERT_FALSE(speed);
    EXPECT_EQ(speed.error().kind, ErrorKind::kInvalid);
  }
}

Json report(double ms, const char* tokens, const char* logits) {
  return {{"work", {{"prompt", 1}}},
          {"roof", {{"read_gbs", 50}}},
          {"prefill", {{"tok_s", 100}}},
          {"decode", Json::array({{{"c", 1u}, {"ms_per_step", ms}, {"token_hash", tokens}, {"logits_hash", logits}}})}};
}

TEST(Compare, TellsRatiosAndChangedResults) {
  const auto faster = compare(report(20, "a", "b"), report(15, "a", "c"));
  ASSERT_TRUE(faster) << faster.error().message;
  EXPECT_EQ((*faster)["decode"][0]["ms_ratio"], 0.75);
  EXPECT_FALSE((*faster)["results_equal"].get<bool>());
  EXPECT_TRUE((*faster)["decode"][0]["tokens_equal"].get<bool>());
  EXPECT_NE(comparison_text(*faster).find("OTHER LOGITS"), std::string::npos);
  EXPECT_NE(comparison_text(*compare(report(1, "a", "b"), report(1, "x", "b"))).find("OTHER TOKENS"), std::string::npos);
}

TEST(Compare, OtherJsonIsRefused) {
  const Json now = report(1, "a", "b");
  for (const Json& then : {Json(3), Json::object(), Json::array({now}), report(0, "a", "b")}) {
    EXPECT_EQ(compare(then, now).error().kind, ErrorKind::kInvalid) << then.dump();
  }
}

}  // namespace
}  // namespace teapot::workbench
