#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <future>

#include "engine/collecting_sink.h"
#include "engine/load_engine.h"
#include "test_data.h"

namespace teapot::engine {
namespace {

EngineOptions small_options() {
  return {.backend = {.kv_dtype = "f32", .threads = 2, .bind = "off"},
          .max_queue = 4,
          .scheduler = {.max_seqs = 1, .prefill_chunk = 16, .prefix_cache = false}};
}

class EngineOnDemo : public ::testing::Test {
 protected:
  void SetUp() override {
    TEAPOT_NEEDS(testing::demo_model());
    auto loaded = load_engine(testing::demo_model().string(), small_options(), /*text_needed=*/true);
    ASSERT_TRUE(loaded) << loaded.error().message;
    text_ = std::move(loaded->text);
    engine_ = std::move(loaded->engine);
  }

  std::vector<int32_t> prompt(const std::string& text) const { return text_->tokenizer.encode(text, true).value(); }

  GenerateRequest request(uint32_t max_tokens, uint64_t seed = 1) const {
    return {.prompt = prompt("<|im_start|>user\nHow are you?<|im_end|>\n<|im_start|>assistant\n"),
            .sampling = {.temperature = 1, .seed = seed},
            .max_tokens = max_tokens,
            .ignore_eos = true};
  }

  std::shared_ptr<CollectingSink> submit(GenerateRequest wanted) {
    auto sink = std::make_shared<CollectingSink>();
    const auto id = engine_->submit(std::move(wanted), {sink});
    EXPECT_TRUE(id) << id.error().message;
    return sink;
  }

  std::vector<int32_t> ids_of(GenerateRequest wanted) {
    const auto sink = submit(std::move(wanted));
    sink->wait();
    return sink->ids();
  }

  // A request that has given its first token, and will be at it for a while.
  struct Long {
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::promise<void> running;
    RequestId id{};
  };
  std::unique_ptr<Long> begin_long() {
    auto request_at_work = std::make_unique<Long>();
    request_at_work->sink->during_token = [l = request_at_work.get()](size_t tokens) {
      if (tokens == 1) l->running.set_value();
      return true;
    };
    request_at_work->id = engine_->submit(request(4000), {request_at_work->sink}).value();
    request_at_work->running.get_future().wait();
    return request_at_work;
  }

  std::optional<TextAssets> text_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineOnDemo, StepsThatFoundTheirPlanAreCounted) {
  EXPECT_EQ(engine_->status().plan_hits, 0u);  // the warm-up is not counted
  EXPECT_EQ(engine_->status().plan_misses, 0u);
  const GenerateRequest wanted = request(5);
  const size_t steps = (wanted.prompt.size() + 15) / 16 + 4;  // the first token is the prefill's
  ids_of(wanted);
  const EngineStatus first = engine_->status();
  EXPECT_EQ(first.plan_hits, steps);
  EXPECT_EQ(first.plan_misses, 0u);
}

TEST_F(EngineOnDemo, RequiredPlansAreAllThere) {
  const std::vector<int32_t> expected = ids_of(request(12, 7));
  EngineOptions options = small_options();
  options.require_plan = true;
  options.warmup = 0;  // and its warm-up leaves no trace in a reply
  auto loaded = load_engine(testing::demo_model().string(), options, /*text_needed=*/true);
  ASSERT_TRUE(loaded) << loaded.error().message;
  engine_ = std::move(loaded->engine);
  EXPECT_EQ(ids_of(request(12, 7)), expected);
  EXPECT_EQ(engine_->status().plan_misses, 0u);
  EXPECT_NE(engine_->status().plan_hits, 0u);
}

TEST_F(EngineOnDemo, PlansCannotBeRequiredOfStepsThatAreLaidOutAsTheyCome) {
  EngineOptions options = small_options();
  options.require_plan = true;
  options.backend.plan = "eager";
  const auto loaded = load_engine(testing::demo_model().string(), options, /*text_needed=*/true);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(loaded.error().message.find("plan=eager"), std::string::npos);
}

TEST_F(EngineOnDemo, ASeededReplyDependsOnNothingButTheRequest) {
  const std::vector<int32_t> alone = ids_of(request(24, 7));
  EXPECT_EQ(alone.size(), 24u);
  EngineOptions options = small_options();
  options.scheduler.max_seqs = 3;
  auto loaded = load_engine(testing::demo_model().string(), options, /*text_needed=*/true);
  ASSERT_TRUE(loaded) << loaded.error().message;
  engine_ = std::move(loaded->engine);
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (const uint64_t seed : {3, 7, 5}) sinks.push_back(submit(request(24, seed)));
  for (const auto& sink : sinks) sink->wait();
  EXPECT_EQ(sinks[1]->ids(), alone);
  EXPECT_NE(sinks[0]->ids(), alone);
  EXPECT_NE(sinks[2]->ids(), alone);
}

TEST_F(EngineOnDemo, TheChunkOfPrefillChangesNothing) {
  GenerateRequest wanted = request(16, 9);
  wanted.prompt = prompt(
      "<|im_start|>user\nWhat is three and four? Please think before you answer, and then say it.<|im_end|>\n<|im_start|>assistant\n");
  const std::vector<int32_t> expected = ids_of(wanted);
  for (const uint32_t chunk : {1, 5, 1000}) {
    EngineOptions options = small_options();
    options.scheduler.prefill_chunk = chunk;
    const auto other = load_engine(testing::demo_model().string(), options, true);
    ASSERT_TRUE(other) << other.error().message;
    const auto sink = std::make_shared<CollectingSink>();
    ASSERT_TRUE(other->engine->submit(wanted, {sink}));
    sink->wait();
    EXPECT_EQ(sink->ids(), expected) << "chunk " << chunk;
  }
}

TEST_F(EngineOnDemo, EndsAtMaxTokensWithLength) {
  const auto sink = submit(request(5));
  const Finish& finish = sink->wait();
  EXPECT_EQ(finish.reason, FinishReason::kLength);
  EXPECT_EQ(finish.timings.completion_tokens, 5u);
  EXPECT_EQ(finish.timings.prompt_tokens, request(5).prompt.size());
  EXPECT_EQ(sink->finishes(), 1);
}

TEST_F(EngineOnDemo, EndsAtAStopTokenWhichCounts) {
  GenerateRequest wanted = request(0);
  wanted.sampling.temperature = 0;
  wanted.ignore_eos = false;
  const auto sink = submit(std::move(wanted));
  EXPECT_EQ(sink->wait().reason, FinishReason::kStop);
  ASSERT_FALSE(sink->events.empty());
  EXPECT_TRUE(sink->events.back().is_stop);
  EXPECT_EQ(sink->wait().timings.completion_tokens, sink->events.size());
}

TEST_F(EngineOnDemo, EndsWhenTheSinkHasEnough) {
  auto sink = std::make_shared<CollectingSink>();
  sink->during_token = [](size_t tokens) { return tokens < 3; };
  ASSERT_TRUE(engine_->submit(request(50), {sink}));
  EXPECT_EQ(sink->wait().reason, FinishReason::kStop);
  EXPECT_EQ(sink->events.size(), 3u);
}

TEST_F(EngineOnDemo, EndsAtTheContextLimitWithLength) {
  EngineOptions options = small_options();
  options.context = 40;
  const auto loaded = load_engine(testing::demo_model().string(), options, true);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->engine->context(), 40u);
  GenerateRequest wanted = request(0);
  const size_t prompt_tokens = wanted.prompt.size();
  const auto sink = std::make_shared<CollectingSink>();
  ASSERT_TRUE(loaded->engine->submit(wanted, {sink}));
  EXPECT_EQ(sink->wait().reason, FinishReason::kLength);
  EXPECT_EQ(sink->events.size(), 40 - prompt_tokens);

  wanted.prompt.assign(39, 1);  // room for one
  const auto last = std::make_shared<CollectingSink>();
  ASSERT_TRUE(loaded->engine->submit(wanted, {last}));
  EXPECT_EQ(last->wait().reason, FinishReason::kLength);
  EXPECT_EQ(last->events.size(), 1u);

  wanted.prompt.assign(40, 1);
  const auto refused = loaded->engine->submit(wanted, {std::make_shared<CollectingSink>()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(refused.error().message.find("40"), std::string::npos);
}

TEST_F(EngineOnDemo, NeverAsksForMoreContextThanTheModelHas) { EXPECT_EQ(engine_->context(), engine_->config().context_length()); }

TEST_F(EngineOnDemo, CancelEndsADecode) {
  const auto running = begin_long();
  EXPECT_EQ(engine_->load().running, 1u);
  engine_->cancel(running->id);
  EXPECT_EQ(running->sink->wait().reason, FinishReason::kCancelled);
  EXPECT_LT(running->sink->events.size(), 4000u);
  EXPECT_EQ(engine_->load().running, 0u);
  EXPECT_EQ(running->sink->finishes(), 1);
}

TEST_F(EngineOnDemo, CancelEndsAPrefill) {
  GenerateRequest wanted = request(5);
  wanted.prompt.assign(4000, 1);  // 250 pieces
  auto sink = std::make_shared<CollectingSink>();
  std::promise<void> reading;
  uint32_t read = 0;
  sink->during_prefill = [&](uint32_t done) {
    if (read == 0) reading.set_value();
    read = done;
  };
  const auto id = engine_->submit(std::move(wanted), {sink});
  ASSERT_TRUE(id);
  reading.get_future().wait();
  engine_->cancel(*id);
  EXPECT_EQ(sink->wait().reason, FinishReason::kCancelled);
  EXPECT_LT(read, 4000u);
  EXPECT_TRUE(sink->events.empty());
  EXPECT_EQ(engine_->load().running, 0u);
}

TEST_F(EngineOnDemo, CancelEndsAWaitingRequestWithinAStepOfTheRunningOne) {
  const auto running = begin_long();
  const auto waiting = std::make_shared<CollectingSink>();
  const auto id = engine_->submit(request(5), {waiting});
  ASSERT_TRUE(id);
  EXPECT_EQ(engine_->load().waiting, 1u);
  engine_->cancel(*id);
  EXPECT_EQ(engine_->load().waiting, 0u);
  EXPECT_EQ(waiting->wait().reason, FinishReason::kCancelled);
  EXPECT_TRUE(waiting->events.empty());
  EXPECT_EQ(running->sink->finishes(), 0);
}

TEST_F(EngineOnDemo, AFullQueueIsBusy) {
  const auto running = begin_long();
  std::vector<std::shared_ptr<CollectingSink>> waiting;
  waiting.reserve(4);
  for (int i = 0; i < 4; ++i) waiting.push_back(submit(request(1)));
  EXPECT_TRUE(engine_->full());
  const auto refused = engine_->submit(request(1), {std::make_shared<CollectingSink>()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBusy);
  engine_->cancel(running->id);
  for (const auto& sink : waiting) EXPECT_EQ(sink->wait().reason, FinishReason::kLength);
}

TEST_F(EngineOnDemo, DestructionCancelsWhatRunsAndWaits) {
  const auto running = begin_long();
  const auto waiting = submit(request(5));
  engine_.reset();
  EXPECT_EQ(running->sink->wait().reason, FinishReason::kCancelled);
  EXPECT_EQ(waiting->wait().reason, FinishReason::kCancelled);
}

TEST_F(EngineOnDemo, WhatCanNeverRunIsRefusedWithTheNumbers) {
  const auto refused = engine_->submit(request(5), {std::make_shared<CollectingSink>(), std::make_shared<CollectingSink>()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refused.error().message, "2 choices were asked for; at most 1 sequences run at a time");
}

TEST_F(EngineOnDemo, StatusTellsOfThoseWhoRunAndWait) {
  const auto running = begin_long();
  const auto waiting = submit(request(5));
  const EngineStatus status = engine_->status();
  ASSERT_EQ(status.sequences.size(), 2u);
  EXPECT_EQ(status.sequences[0].state, SequenceState::kDecode);
  EXPECT_GE(status.sequences[0].completion_tokens, 1u);
  EXPECT_EQ(status.sequences[0].prompt_tokens, request(1).prompt.size());
  EXPECT_EQ(status.sequences[1].state, SequenceState::kWaiting);
  EXPECT_GT(status.state_promised, 0u);
  EXPECT_GT(status.state_used, 0u);
  engine_->cancel(running->id);
  running->sink->wait();
  waiting->wait();
}

TEST_F(EngineOnDemo, RefusesWhatIsNoRequest) {
  const auto refused = [&](GenerateRequest wanted) {
    const auto id = engine_->submit(std::move(wanted), {std::make_shared<CollectingSink>()});
    return id ? std::string("accepted") : id.error().message;
  };
  EXPECT_EQ(refused({}), "the prompt is empty");
  EXPECT_NE(refused({.prompt = {4096}}).find("4096"), std::string::npos);
  EXPECT_NE(refused({.prompt = {-1}}).find("-1"), std::string::npos);
  EXPECT_NE(refused({.prompt = {1}, .sampling = {.top_p = 2}}).find("top_p"), std::string::npos);
}

TEST_F(EngineOnDemo, LogprobsOfTheGreedyTokenLead) {
  GenerateRequest wanted = request(4);
  wanted.sampling.temperature = 0;
  wanted.top_logprobs = 3;
  wanted.prompt_logprobs = true;
  const auto sink = submit(wanted);
  sink->wait();
  for (const TokenEvent& event : sink->events) {
    ASSERT_EQ(event.top.size(), 3u);
    EXPECT_EQ(event.top[0].id, event.id);
    EXPECT_EQ(event.top[0].logprob, event.logprob);
    EXPECT_LE(event.logprob, 0);
    EXPECT_GE(event.top[0].logprob, event.top[1].logprob);
  }
  // The prompt's tokens but the first; scoring the reply as a prompt gives the same numbers.
  ASSERT_EQ(sink->prompt_events.size(), wanted.prompt.size() - 1);
  for (size_t i = 0; i < sink->prompt_events.size(); ++i) EXPECT_EQ(sink->prompt_events[i].id, wanted.prompt[i + 1]);
  GenerateRequest again = wanted;
  for (const TokenEvent& event : sink->events) again.prompt.push_back(event.id);
  again.max_tokens = 1;
  const auto scored = submit(again);
  scored->wait();
  const size_t first = wanted.prompt.size() - 1;
  for (size_t i = 0; i < sink->events.size(); ++i) {
    EXPECT_EQ(scored->prompt_events[first + i].logprob, sink->events[i].logprob);
  }
}

// Broken numbers in the weights: an error that says so, the slot free, the engine alive.
class BrokenWeights : public ::testing::TestWithParam<const char*> {};

TEST_P(BrokenWeights, EndARequestWithAClearError) {
  const auto path = testing::test_data("bad") / GetParam();
  TEAPOT_NEEDS(path);
  auto model = model::load_model(path.string());
  ASSERT_TRUE(model) << model.error().message;
  const auto engine = Engine::create(*std::move(model), {}, small_options(), [](uint64_t, uint64_t) {});
  ASSERT_TRUE(engine) << engine.error().message;
  for (int i = 0; i < 2; ++i) {
    const auto sink = std::make_shared<CollectingSink>();
    ASSERT_TRUE((*engine)->submit({.prompt = {1, 2, 3}, .sampling = {.temperature = 0}, .max_tokens = 4}, {sink}));
    const Finish& finish = sink->wait();
    EXPECT_EQ(finish.reason, FinishReason::kError);
    ASSERT_TRUE(finish.error);
    EXPECT_NE(finish.error->message.find("NaN"), std::string::npos) << finish.error->message;
    EXPECT_TRUE(sink->events.empty());
    EXPECT_EQ((*engine)->load().running, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Engine, BrokenWeights, ::testing::Values("st_nan_weights", "gg_nan.gguf", "gg_nan_scale.gguf"));

}  // namespace
}  // namespace teapot::engine
