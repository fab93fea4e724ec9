// For tests of exactness: replies of engines on the demo model, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/collecting_sink.h"
#include "engine/engine.h"
#include "test_data.h"

namespace teapot::engine {

// What a request came to: all of it, bit for bit.
struct Reply {
  std::vector<int32_t> ids;
  std::vector<std::pair<int32_t, uint32_t>> logprobs;  // ids and bits, the sampled token's and the most likely ones'
  FinishReason reason;
  uint32_t cached;

  bool same(const Reply& other) const { return ids == other.ids && logprobs == other.logprobs && reason == other.reason; }
};

inline Reply reply_of(CollectingSink& sink) {
  const Finish& finish = sink.wait();
  Reply reply{sink.ids(), {}, finish.reason, finish.timings.cached_tokens};
  for (const TokenEvent& event : sink.events) {
    const auto add = [&](int32_t id, float logprob) {
      uint32_t bits;
      std::memcpy(&bits, &logprob, sizeof bits);
      reply.logprobs.emplace_back(id, bits);
    };
    add(event.id, event.logprob);
    for (const TokenLogprob& top : event.top) add(top.id, top.logprob);
  }
  return reply;
}

class Exactness : public ::testing::Test {
 protected:
  void SetUp() override { TEAPOT_NEEDS(testing::demo_model()); }

  static std::unique_ptr<Engine> engine(const SchedulerOptions& scheduler, const std::string& weights = "file",
                                        std::optional<uint32_t> mtp = {}, const cpu::Options& backend = {.threads = 1, .bind = "off"}) {
    const model::WeightOptions options{.weights = weights};
    auto model = model::load_model(testing::demo_model().string(), options);
    EXPECT_TRUE(model) << model.error().message;
    auto made = Engine::create(*std::move(model), {}, {.backend = backend, .weights = options, .scheduler = scheduler, .mtp = mtp},
                               [](uint64_t, uint64_t) {});
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }

  // What all others are compared with: one sequence, nothing cached, no drafts.
  static std::unique_ptr<Engine> plain(const std::string& weights = "file", const cpu::Options& backend = {.threads = 1, .bind = "off"}) {
    return engine({.max_seqs = 1, .prefix_cache = false}, weights, 0, backend);
  }

  // Ids without meaning: the model has an opinion on them all the same.
  static std::vector<int32_t> words(uint32_t seed, size_t count) {
    std::vector<int32_t> ids;
    uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;
    for (size_t i = 0; i < count; ++i) {
      x = x * 6364136223846793005 + 1442695040888963407;
      ids.push_back(static_cast<int32_t>((x >> 33) % 4000));
    }
    return ids;
  }

  static GenerateRequest request(std::vector<int32_t> prompt, uint32_t max_tokens = 6) {
    return {.prompt = std::move(prompt), .sampling = {.temperature = 0}, .max_tokens = max_tokens, .ignore_eos = true, .top_logprobs = 2};
  }

  static Reply run(Engine& on, GenerateRequest wanted) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto id = on.submit(std::move(wanted), {sink});
    EXPECT_TRUE(id) << id.error().message;
    return reply_of(*sink);
  }
};

// Eight requests of all kinds.
inline std::vector<GenerateRequest> kinds(const std::function<std::vector<int32_t>(uint32_t seed, size_t count)>& words) {
  std::vector<GenerateRequest> all;
  for (uint32_t i = 0; i < 8; ++i) {
    GenerateRequest wanted{.prompt = words(i, 1 + i * 113 % 400), .max_tokens = 5 + 7 * i, .ignore_eos = true};
    wanted.sampling.temperature = i % 2 == 0 ? 0 : 0.9f;
    wanted.sampling.seed = i;
    wanted.sampling.top_k = i % 4 == 1 ? 20 : 0;
    if (i == 2) wanted.sampling.logit_bias = {{5, 10.f}, {7, -100.f}};
    if (i == 4) wanted.sampling.presence_penalty = 1;
    if (i == 5) wanted.min_tokens = 10, wanted.ignore_eos = false;
    if (i % 3 == 0) wanted.top_logprobs = 3;
    all.push_back(std::move(wanted));
  }
  return all;
}

}  // namespace teapot::engine
