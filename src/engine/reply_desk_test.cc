// What is told to whom, in which order, with which figures.
#include "engine/reply_desk.h"

#include <gtest/gtest.h>

#include "engine/collecting_sink.h"

namespace teapot::engine {
namespace {

using std::chrono::milliseconds;

const Clock::time_point kStart = Clock::time_point{} + std::chrono::hours(1);

class NotedObserver : public EngineObserver {
 public:
  void on_step(const StepRecord& step) override { notes.push_back(fmt::format("step {}+{}", step.decode_rows, step.prefill_rows)); }
  void on_prompt(const PromptRecord& prompt) override { notes.push_back(fmt::format("prompt {}", prompt.request)); }
  void on_token(double since_last_ms) override { notes.push_back(fmt::format("token {}", since_last_ms)); }
  void on_reply(const ReplyRecord& reply) override {
    notes.push_back(fmt::format("reply {}.{} {} '{}'", reply.request, reply.choice, static_cast<int>(reply.reason), reply.error));
  }
  void on_stall(double) override { notes.emplace_back("stall"); }

  std::vector<std::string> notes;
};

class NotedSink : public ReplySink {
 public:
  void on_prefill(uint32_t done, uint32_t total) override { notes.push_back(fmt::format("prefill {}/{}", done, total)); }
  void on_prompt_logprobs(const std::vector<TokenEvent>& events) override { notes.push_back(fmt::format("scored {}", events.size())); }
  bool on_token(const TokenEvent& event) override {
    notes.push_back(fmt::format("token {}", event.id));
    return true;
  }
  void on_finish(const Finish&) override { notes.emplace_back("finish"); }

  std::vector<std::string> notes;
};

std::shared_ptr<Job> job_of(std::vector<std::shared_ptr<ReplySink>> sinks) {
  auto job = std::make_shared<Job>();
  job->id = 7;
  job->request.prompt = {1, 2, 3};
  job->submitted = kStart;
  for (auto& sink : sinks) job->choices.push_back(std::make_unique<Choice>(std::move(sink)));
  return job;
}

// One choice, and when things happen to it.
struct OneReply {
  std::shared_ptr<NotedObserver> observer = std::make_shared<NotedObserver>();
  ReplyDesk desk{observer};
  std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
  std::shared_ptr<Job> job = job_of({sink});

  void push(int ms, decltype(ReplyEvent::what) what) { desk.push({job, 0, kStart + milliseconds(ms), std::move(what)}); }
  const Finish& finish() {
    desk.flush();
    desk.deliver();
    EXPECT_EQ(sink->finishes(), 1);
    return sink->wait();
  }
};

TEST(ReplyDesk, TellsInTheOrderOfEvents) {
  const auto sink = std::make_shared<NotedSink>();
  const auto observer = std::make_shared<NotedObserver>();
  ReplyDesk desk(observer);
  const auto job = job_of({sink});
  desk.push({job, 0, kStart, PromptRecord{.request = 7}});
  desk.push({job, 0, kStart, BeginEvent{0}});
  desk.push({nullptr, 0, kStart, StepRecord{.decode_rows = 1, .prefill_rows = 2}});
  desk.flush();
  desk.push({job, 0, kStart, PrefillEvent{2, 3}});
  desk.push({job, 0, kStart, ScoredEvent{{{.id = 2}, {.id = 3}}}});
  desk.push({job, 0, kStart, TokenEvent{.id = 4}});
  desk.push({job, 0, kStart + milliseconds(5), TokenEvent{.id = 5}});
  desk.push({job, 0, kStart, EndEvent{FinishReason::kLength, {}}});
  EXPECT_TRUE(sink->notes.empty());
  desk.deliver();
  EXPECT_TRUE(sink->notes.empty());  // the rest was not handed over yet
  EXPECT_EQ(observer->notes, (std::vector<std::string>{"prompt 7", "step 1+2"}));
  desk.flush();
  desk.deliver();
  EXPECT_EQ(sink->notes, (std::vector<std::string>{"prefill 2/3", "scored 2", "token 4", "token 5", "finish"}));
  EXPECT_EQ(observer->notes, (std::vector<std::string>{"prompt 7", "step 1+2", "token 5", "reply 7.0 1 ''"}));
}

TEST(ReplyDesk, Timings) {
  OneReply reply;
  reply.push(30, BeginEvent{2});
  reply.push(80, TokenEvent{.id = 1});
  reply.push(90, TokenEvent{.id = 2});
  reply.push(110, TokenEvent{.id = 3});
  reply.push(200, EndEvent{FinishReason::kStop, {}});
  const Timings& timings = reply.finish().timings;
  EXPECT_EQ(timings.queue_ms, 30);
  EXPECT_EQ(timings.prefill_ms, 50);
  EXPECT_EQ(timings.decode_ms, 30);
  EXPECT_EQ(timings.ttft_ms(), 80);
  EXPECT_EQ(timings.tpot_ms(), 15);
  EXPECT_EQ(timings.prompt_tokens, 3u);
  EXPECT_EQ(timings.cached_tokens, 2u);
  EXPECT_EQ(timings.completion_tokens, 3u);
}

TEST(ReplyDesk, WithoutTokensThereIsOnlyTheWait) {
  OneReply reply;
  reply.push(40, BeginEvent{0});
  reply.push(50, EndEvent{FinishReason::kCancelled, {}});
  const Finish& finish = reply.finish();
  EXPECT_EQ(finish.reason, FinishReason::kCancelled);
  EXPECT_EQ(finish.timings.queue_ms, 40);
  EXPECT_EQ(finish.timings.ttft_ms(), 40);
  EXPECT_EQ(finish.timings.tpot_ms(), 0);
}

TEST(ReplyDesk, TokensAfterAStopAreNobodys) {
  OneReply reply;
  reply.sink->during_token = [](size_t tokens) { return tokens < 2; };
  reply.push(0, BeginEvent{0});
  for (int i = 1; i <= 4; ++i) reply.push(10 * i, TokenEvent{.id = i});
  reply.push(60, EndEvent{FinishReason::kStop, {}});
  EXPECT_EQ(reply.finish().timings.completion_tokens, 2u);
  EXPECT_EQ(reply.finish().timings.decode_ms, 10);
  EXPECT_EQ(reply.sink->ids(), (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(reply.job->choices[0]->stopped);
  EXPECT_EQ(reply.observer->notes, (std::vector<std::string>{"token 10", "reply 7.0 0 ''"}));
}

TEST(ReplyDesk, AReplyThatWasStoppedIsWholeHoweverItsSequenceEnds) {
  for (const bool stops : {false, true}) {
    for (const FinishReason reason : {FinishReason::kStop, FinishReason::kLength, FinishReason::kCancelled, FinishReason::kError}) {
      OneReply reply;
      reply.sink->during_token = [&](size_t) { return !stops; };
      reply.push(0, BeginEvent{0});
      reply.push(1, TokenEvent{.id = 1});
      std::optional<Error> error;
      if (reason == FinishReason::kError) error = Error{ErrorKind::kInternal, "broken"};
      reply.push(2, EndEvent{reason, error});
      const Finish& finish = reply.finish();
      EXPECT_EQ(finish.reason, stops ? FinishReason::kStop : reason);
      EXPECT_EQ(finish.error.has_value(), !stops && error);
      EXPECT_EQ(reply.observer->notes.back(),
                fmt::format("reply 7.0 {} '{}'", static_cast<int>(finish.reason), finish.error ? "broken" : ""));
    }
  }
}

TEST(ReplyDesk, ChoicesAreToldApart) {
  const auto one = std::make_shared<CollectingSink>(), two = std::make_shared<CollectingSink>();
  one->during_token = [](size_t) { return false; };
  ReplyDesk desk;
  const auto job = job_of({one, two});
  for (uint32_t choice : {0u, 1u}) desk.push({job, choice, kStart, BeginEvent{0}});
  for (int32_t id = 1; id <= 3; ++id) {
    for (uint32_t choice : {0u, 1u}) desk.push({job, choice, kStart, TokenEvent{.id = 10 * static_cast<int32_t>(choice) + id}});
  }
  for (uint32_t choice : {0u, 1u}) desk.push({job, choice, kStart, EndEvent{FinishReason::kLength, {}}});
  desk.flush();
  desk.deliver();
  EXPECT_EQ(one->ids(), (std::vector<int32_t>{1}));
  EXPECT_EQ(two->ids(), (std::vector<int32_t>{11, 12, 13}));
  EXPECT_EQ(one->wait().reason, FinishReason::kStop);
  EXPECT_EQ(two->wait().reason, FinishReason::kLength);
}

TEST(ReplyDesk, ItsThreadTellsWhatAnotherHandsOver) {
  const auto sink = std::make_shared<CollectingSink>();
  std::thread::id told_on;
  sink->during_token = [&](size_t) {
    told_on = std::this_thread::get_id();
    return true;
  };
  ReplyDesk desk;
  desk.start();
  const auto job = job_of({sink});
  std::jthread steps([&] {
    desk.push({job, 0, kStart, BeginEvent{0}});
    for (int32_t id = 0; id < 10'000; ++id) {
      desk.push({job, 0, kStart, TokenEvent{.id = id}});
      if (id % 3 == 0) desk.flush();
    }
    desk.push({job, 0, kStart, EndEvent{FinishReason::kLength, {}}});
    desk.flush();
  });
  EXPECT_EQ(sink->wait().timings.completion_tokens, 10'000u);
  const std::vector<int32_t> ids = sink->ids();
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_NE(told_on, std::this_thread::get_id());
  EXPECT_NE(told_on, steps.get_id());
}

TEST(ReplyDesk, ItsEndTellsWhatIsLeft) {
  for (const bool threaded : {false, true}) {
    const auto sink = std::make_shared<CollectingSink>();
    {
      ReplyDesk desk;
      if (threaded) desk.start();
      const auto job = job_of({sink});
      desk.push({job, 0, kStart, BeginEvent{0}});
      desk.flush();
      desk.push({job, 0, kStart, TokenEvent{.id = 1}});
      desk.push({job, 0, kStart, EndEvent{FinishReason::kLength, {}}});
    }
    EXPECT_EQ(sink->finishes(), 1);
    EXPECT_EQ(sink->ids().size(), 1u);
  }
}

}  // namespace
}  // namespace teapot::engine
