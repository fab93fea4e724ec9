#include "server/metrics.h"

#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace teapot::server {
namespace {

using engine::FinishReason;

// Samples by their name with labels, model_name left out; fails on what is not Prometheus' text format.
std::map<std::string, double> parse(const std::string& text) {
  std::map<std::string, double> samples;
  std::set<std::string> families;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(families.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
    }
    if (line.starts_with("#")) continue;
    const size_t space = line.rfind(' ');
    std::string name = line.substr(0, space);
    const std::string model = R"(model_name="demo")";
    const size_t label = name.find(model);
    EXPECT_NE(label, name.npos) << line;
    if (label == name.npos) continue;
    const bool more = name[label + model.size()] == ',';
    name.erase(label, model.size() + (more ? 1 : 0));
    if (name.ends_with(",}")) name.erase(name.size() - 2, 1);
    if (name.ends_with("{}")) name.resize(name.size() - 2);
    EXPECT_TRUE(samples.emplace(name, std::stod(line.substr(space + 1))).second) << line;
  }
  return samples;
}

engine::ReplyRecord reply(FinishReason reason, engine::Timings timings) { return {.reason = reason, .timings = timings, .error = {}}; }

TEST(Metrics, WhileTheModelLoadsOnlyItsProgressIsKnown) {
  EXPECT_EQ(parse(Metrics("demo").text(0.25, std::nullopt)), (std::map<std::string, double>{{"teapot_model_loaded_ratio", 0.25}}));
}

TEST(Metrics, AnswersUnderVllmsNamesAndItsOwn) {
  Metrics metrics("demo");
  EngineFigures now;
  now.load = {.running = 3, .waiting = 2};
  now.status.state_budget = 1000;
  now.status.state_used = 700;
  now.status.cache_used = 200;
  now.status.prompt_tokens = 50;
  now.status.generation_tokens = 7;
  now.status.cache_queries = 40;
  now.status.cache_hits = 30;
  const auto samples = parse(metrics.text(1, now));
  for (const auto& [name, value] : std::map<std::string, double>{{"vllm:num_requests_running", 3},
                                                                 {"vllm:num_requests_waiting", 2},
                                                                 {"vllm:kv_cache_usage_perc", 0.5},
                                                                 {"vllm:gpu_cache_usage_perc", 0.5},
                                                                 {"vllm:prompt_tokens_total", 50},
                                                                 {"vllm:generation_tokens_total", 7},
                                                                 {"vllm:prefix_cache_queries_total", 40},
                                                                 {"vllm:prefix_cache_hits_total", 30},
                                                                 {"teapot_sequences_running", 3},
                                                                 {"teapot_kv_cache_usage_ratio", 0.5},
                                                                 {"teapot_generation_tokens_total", 7}}) {
    ASSERT_TRUE(samples.contains(name)) << name;
    EXPECT_EQ(samples.at(name), value) << name;
  }
}

TEST(Metrics, AReplyIsCountedByItsReasonAndItsTimesInSeconds) {
  Metrics metrics("demo");
  metrics.on_prompt({.tokens = 12});
  metrics.on_token(8);
  metrics.on_token(12);
  metrics.on_reply(
      reply(FinishReason::kStop, {.queue_ms = 100, .prefill_ms = 400, .decode_ms = 20, .prompt_tokens = 12, .completion_tokens = 3}));
  metrics.on_reply(reply(FinishReason::kLength, {.prompt_tokens = 12, .completion_tokens = 1}));
  metrics.on_reply(reply(FinishReason::kCancelled, {}));
  metrics.on_reply(reply(FinishReason::kError, {}));
  metrics.on_stall(61);
  const auto samples = parse(metrics.text(1, EngineFigures{}));
  for (const char* reason : {"stop", "length", "abort", "error"})
    EXPECT_EQ(samples.at(fmt::format("vllm:request_success_total{{finished_reason=\"{}\"}}", reason)), 1) << reason;
  EXPECT_EQ(samples.at("teapot_step_stalls_total"), 1);
  EXPECT_EQ(samples.at("vllm:request_prompt_tokens_sum"), 12);
  EXPECT_EQ(samples.at("vllm:request_generation_tokens_count"), 2);  // the two that had tokens
  EXPECT_EQ(samples.at("vllm:request_generation_tokens_sum"), 4);
  EXPECT_DOUBLE_EQ(samples.at("vllm:time_to_first_token_seconds_sum"), 0.5);
  EXPECT_EQ(samples.at("vllm:time_to_first_token_seconds_bucket{le=\"0.25\"}"), 1);
  EXPECT_EQ(samples.at("vllm:time_to_first_token_seconds_bucket{le=\"0.5\"}"), 2);
  EXPECT_EQ(samples.at("vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"}"), 2);
  EXPECT_DOUBLE_EQ(samples.at("vllm:inter_token_latency_seconds_sum"), 0.02);
  EXPECT_EQ(samples.at("vllm:request_time_per_output_token_seconds_count"), 1);  // one token has no time between two
  EXPECT_DOUBLE_EQ(samples.at("vllm:request_time_per_output_token_seconds_sum"), 0.01);
  EXPECT_DOUBLE_EQ(samples.at("vllm:e2e_request_latency_seconds_sum"), 0.52);
  EXPECT_DOUBLE_EQ(samples.at("vllm:request_queue_time_seconds_sum"), 0.1);
  EXPECT_DOUBLE_EQ(samples.at("vllm:request_prefill_time_seconds_sum"), 0.4);
  EXPECT_DOUBLE_EQ(samples.at("vllm:request_decode_time_seconds_sum"), 0.02);
}

// Each kind of step has its own place, and none is another counter's.
TEST(Metrics, StepsOfAllKindsLeaveRepliesAlone) {
  Metrics metrics("demo");
  for (uint32_t decode = 0; decode <= 64; ++decode) {
    for (const bool verify : {false, true}) {
      for (const uint32_t prefill : {0u, 1u}) {
        metrics.on_step({.decode_rows = decode, .prefill_rows = prefill, .verify = verify, .ms = 1});
      }
    }
  }
  for (const FinishReason reason : {FinishReason::kStop, FinishReason::kLength, FinishReason::kCancelled, FinishReason::kError}) {
    metrics.on_reply(reply(reason, {}));
  }
  const auto samples = parse(metrics.text(1, EngineFigures{}));
  double steps = 0, replies = 0;
  for (const auto& [name, value] : samples) {
    if (name.starts_with("teapot_step_seconds_count{")) steps += value;
    if (name.starts_with("teapot_requests_finished_total{")) replies += value;
  }
  EXPECT_EQ(steps, 65 * 4);
  EXPECT_EQ(replies, 4);
}

TEST(Metrics, StepsGoByKindAndThePowerOfTwoThatHoldsTheirRows) {
  Metrics metrics("demo");
  const auto step = [&metrics](uint32_t decode, uint32_t prefill, bool verify = false) {
    metrics.on_step({.decode_rows = decode,
                     .prefill_rows = prefill,
                     .verify = verify,
                     .ms = 2,
                     .host_us = 50,
                     .gap_us = 80,
                     .wait_share = 0.25,
                     .replay_ms = verify ? 0.02 : 0});
  };
  step(1, 0);
  step(3, 0);
  step(4, 0);
  step(5, 0);
  step(0, 512);
  step(2, 511);
  step(4, 0, true);
  step(4, 508, true);
  const auto samples = parse(metrics.text(1, EngineFigures{}));
  const auto count = [&samples](const char* kind, int rows) {
    const auto it = samples.find(fmt::format("teapot_step_seconds_count{{kind=\"{}\",rows=\"{}\"}}", kind, rows));
    return it == samples.end() ? 0 : it->second;
  };
  EXPECT_EQ(count("decode", 1), 1);
  EXPECT_EQ(count("decode", 2), 0);
  EXPECT_EQ(count("decode", 4), 2);
  EXPECT_EQ(count("decode", 8), 1);
  EXPECT_EQ(count("prefill", 512), 1);
  EXPECT_EQ(count("mixed", 1024), 1);
  EXPECT_EQ(count("mixed", 512), 1);
  EXPECT_EQ(count("verify", 4), 1);
  EXPECT_EQ(samples.at("teapot_step_replay_seconds_count"), 2);
  EXPECT_DOUBLE_EQ(samples.at("teapot_step_replay_seconds_sum"), 40e-6);
  EXPECT_DOUBLE_EQ(samples.at("teapot_step_host_seconds_sum"), 8 * 50e-6);
  EXPECT_DOUBLE_EQ(samples.at("teapot_step_wait_ratio_sum"), 8 * 0.25);
}

}  // namespace
}  // namespace teapot::server
