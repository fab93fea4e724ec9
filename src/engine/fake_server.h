// For tests: a scheduler over a fake backend, driven by hand: nothing happens between two calls.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/collecting_sink.h"
#include "engine/fake_backend.h"
#include "engine/scheduler.h"

namespace teapot::engine {

using Tokens = std::vector<int32_t>;

// Each seed's are others, from the first on.
inline Tokens some_tokens(uint32_t count, uint64_t seed) {
  Tokens tokens;
  uint64_t hash = FakeStates::after(FakeStates::kNoTokens, static_cast<int32_t>(seed));
  for (uint32_t i = 0; i < count; ++i) {
    hash = FakeStates::after(hash, 1);
    tokens.push_back(static_cast<int32_t>(hash >> 58));
  }
  tokens.front() = static_cast<int32_t>(seed % FakeBackend::kVocab);
  return tokens;
}

inline Tokens joined(Tokens first, const Tokens& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
inline Tokens first_of(const Tokens& tokens, size_t count) { return {tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(count)}; }

inline GenerateRequest greedy(Tokens prompt, uint32_t max_tokens) {
  return {.prompt = std::move(prompt), .sampling = {.temperature = 0, .seed = 1}, .max_tokens = max_tokens};
}
inline Tokens greedy_reply(Tokens prompt, uint32_t max_tokens) {
  const size_t size = prompt.size();
  for (uint32_t i = 0; i < max_tokens; ++i) prompt.push_back(FakeBackend::next_token(prompt));
  return {prompt.begin() + static_cast<ptrdiff_t>(size), prompt.end()};
}

class FakeServer {
 public:
  struct Options {
    SchedulerOptions scheduler = {};
    FakeBackend::Options backend = {};  // with step_ms, the scheduler plans with these costs, whatever steps take
    StateBudget budget = {.running = uint64_t{1} << 32, .cache = uint64_t{1} << 30};
    Vocabulary vocabulary = {.rows = FakeBackend::kVocab, .unsampled = {}, .stops = {}};
    uint32_t context = 4096;
    uint32_t queue = 100;
    std::shared_ptr<EngineObserver> observer = nullptr;
  };

  struct Reply {
    uint64_t id = 0;
    std::vector<std::shared_ptr<CollectingSink>> sinks = {};

    bool ended(size_t choice = 0) const { return sinks[choice]->finishes() > 0; }
    // Of one that has ended.
    Tokens ids(size_t choice = 0) const { return sinks[choice]->ids(); }
    const Finish& finish(size_t choice = 0) const { return sinks[choice]->wait(); }
  };

  FakeServer() : FakeServer(Options{}) {}
  explicit FakeServer(const Options& options)
      : backend(options.backend),
        vocabulary_(options.vocabulary),
        plans_(backend, [](plan::StepShape shape) { return plan::Plan{.shape = shape, .buffers = {}, .ops = {}}; }),
        queue_(options.queue, options.scheduler.max_seqs),
        desk_(options.observer),
        scheduler(
            {.backend = backend, .plans = plans_, .vocabulary = vocabulary_, .queue = queue_, .desk = desk_, .context = options.context},
            options.scheduler, options.budget) {
    if (!options.backend.step_ms) return;
    for (const uint32_t rows : scheduler.cost().nodes()) scheduler.cost().observe(rows, options.backend.step_ms(rows));
    costs_ = scheduler.cost();
  }

  // As the engine does, past its checks of the request.
  Result<uint64_t> submit(GenerateRequest request, std::vector<std::shared_ptr<ReplySink>> sinks) {
    auto job = std::make_shared<Job>();
    job->request = std::move(request);
    job->submitted = Clock::now();
    for (auto& sink : sinks) job->choices.push_back(std::make_unique<Choice>(std::move(sink)));
    return queue_.push(std::move(job));
  }
  Reply submit(GenerateRequest request, uint32_t choices = 1) {
    Reply reply;
    for (uint32_t i = 0; i < choices; ++i) reply.sinks.push_back(std::make_shared<CollectingSink>());
    const auto id = submit(std::move(request), {reply.sinks.begin(), reply.sinks.end()});
    EXPECT_TRUE(id) << id.error().message;
    reply.id = id.value_or(0);
    return reply;
  }
  void cancel(const Reply& reply) { queue_.cancel(reply.id); }
  JobQueue& queue() { return queue_; }

  void step() {
    if (costs_) scheduler.cost() = *costs_;
    scheduler.step();
  }
  void deliver() { desk_.deliver(); }
  void steps(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      step();
      deliver();
    }
  }
  // Until all that was submitted has ended.
  void run() {
    for (uint32_t i = 0; i < 100'000; ++i) {
      steps(1);
      if (!scheduler.busy() && queue_.waiting() == 0) return;
    }
    ADD_FAILURE() << "somebody waits for ever";
  }
  Reply run(GenerateRequest request, uint32_t choices = 1) {
    Reply reply = submit(std::move(request), choices);
    run();
    return reply;
  }

  // With nothing running: what is open is the cache's.
  void check_idle() const {
    const EngineStatus status = scheduler.status();
    EXPECT_EQ(scheduler.running(), 0u);
    EXPECT_EQ(status.state_promised, 0u);
    EXPECT_TRUE(status.sequences.empty());
    EXPECT_EQ(backend.usage().slots, status.checkpoints);
    EXPECT_EQ(backend.usage().bytes, status.cache_used);
    EXPECT_LE(status.cache_used, status.cache_budget);
    backend.states().check();
  }

  FakeBackend backend;

 private:
  Vocabulary vocabulary_;
  PlanCache plans_;
  JobQueue queue_;
  ReplyDesk desk_;
  std::optional<StepCost> costs_;

 public:
  Scheduler scheduler;  // the last: it gives back what the others hold
};

}  // namespace teapot::engine
