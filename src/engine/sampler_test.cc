#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

namespace teapot::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One draw per position with a fixed seed.
std::map<int32_t, int> draw(const GenerateRequest& request, const Vocabulary& vocabulary, const std::vector<float>& logits, int draws) {
  Sampler sampler(request, vocabulary);
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    std::vector<float> row = logits;
    const auto event = sampler.sample(row, static_cast<uint64_t>(i));
    EXPECT_TRUE(event) << event.error().message;
    if (event) ++counts[event->id];
  }
  return counts;
}

int32_t first(const GenerateRequest& request, const Vocabulary& vocabulary, std::vector<float> logits) {
  Sampler sampler(request, vocabulary);
  return sampler.sample(logits, 0).value().id;
}

GenerateRequest seeded(SamplingParams params, uint64_t seed = 1) {
  params.seed = seed;
  return {.prompt = {0}, .sampling = std::move(params)};
}

GenerateRequest greedy() { return seeded({.temperature = 0}); }

// |observed - expected| within five standard deviations of a binomial count: one failure in millions, and the seed is fixed anyway.
void expect_shares(const std::map<int32_t, int>& counts, const std::vector<double>& weights, int draws) {
  double total = 0;
  for (const double w : weights) total += w;
  for (size_t id = 0; id < weights.size(); ++id) {
    const double p = weights[id] / total;
    const auto it = counts.find(static_cast<int32_t>(id));
    const int observed = it == counts.end() ? 0 : it->second;
    EXPECT_NEAR(observed, p * draws, 5 * std::sqrt(draws * p * (1 - p))) << "id " << id;
    if (weights[id] == 0) {
      EXPECT_EQ(observed, 0) << "id " << id;
    }
  }
}

std::vector<float> logs(const std::vector<double>& weights) {
  std::vector<float> logits;
  logits.reserve(weights.size());
  for (const double w : weights) logits.push_back(static_cast<float>(std::log(w)));
  return logits;
}

const Vocabulary kSix{.rows = 6, .unsampled = {}, .stops = {5}};

TEST(Sampler, GreedyTakesTheLargestAndTheLowestIdAmongEquals) {
  EXPECT_EQ(first(greedy(), kSix, {0, 3, 7, 7, 1, 7}), 2);
  EXPECT_EQ(first(greedy(), kSix, {-5, -5, -5, -5, -5, -5}), 0);
}

TEST(Sampler, DrawsFromTheSoftmax) {
  const std::vector<double> weights = {1, 2, 3, 4, 5, 6};
  expect_shares(draw(seeded({.temperature = 1}), kSix, logs(weights), 40000), weights, 40000);
}

TEST(Sampler, TemperatureIsAPower) {
  const std::vector<double> weights = {1, 2, 3, 4, 5, 6};
  std::vector<double> squared;
  squared.reserve(weights.size());
  for (const double w : weights) squared.push_back(w * w);
  expect_shares(draw(seeded({.temperature = 0.5f}), kSix, logs(weights), 40000), squared, 40000);
}

TEST(Sampler, ATinyTemperatureIsGreedy) {
  const auto counts = draw(seeded({.temperature = 1e-40f}), kSix, {1, 2, 2.001f, 2, 1, 0}, 100);
  EXPECT_EQ(counts, (std::map<int32_t, int>{{2, 100}}));
}

TEST(Sampler, AHugeTemperatureIsUniform) {
  expect_shares(draw(seeded({.temperature = 1e30f}), kSix, {9, 0, -9, 4, 1, 2}, 30000), {1, 1, 1, 1, 1, 1}, 30000);
}

TEST(Sampler, TopKKeepsExactlyKWithLowestIdsAmongEquals) {
  expect_shares(draw(seeded({.top_k = 3}), kSix, logs({2, 5, 2, 1, 2, 0.5}), 30000), {2, 5, 2, 0, 0, 0}, 30000);
  EXPECT_EQ(draw(seeded({.top_k = 1}), kSix, {1, 3, 3, 1, 1, 1}, 50), (std::map<int32_t, int>{{1, 50}}));
}

TEST(Sampler, TopKOffOrWiderThanTheVocabularyChangesNothing) {
  const std::vector<float> logits = logs({1, 2, 3, 4, 5, 6});
  const auto plain = draw(seeded({}), kSix, logits, 2000);
  EXPECT_EQ(draw(seeded({.top_k = 0}), kSix, logits, 2000), plain);
  EXPECT_EQ(draw(seeded({.top_k = -1}), kSix, logits, 2000), plain);
  EXPECT_EQ(draw(seeded({.top_k = 6}), kSix, logits, 2000), plain);
  EXPECT_EQ(draw(seeded({.top_k = 1 << 30}), kSix, logits, 2000), plain);
}

TEST(Sampler, TopPKeepsTheTokenThatCrosses) {
  // Shares 0.4, 0.3, 0.2, 0.1: before the third stands 0.7, which is below 0.75.
  const auto logits = logs({2, 4, 1, 3, 1e-9, 1e-9});
  expect_shares(draw(seeded({.top_p = 0.75f}), kSix, logits, 30000), {2, 4, 0, 3, 0, 0}, 30000);
  expect_shares(draw(seeded({.top_p = 0.65f}), kSix, logits, 30000), {0, 4, 0, 3, 0, 0}, 30000);
}

TEST(Sampler, TopPZeroKeepsTheBest) {
  EXPECT_EQ(draw(seeded({.top_p = 0}), kSix, {1, 2, 3, 3, 1, 0}, 100), (std::map<int32_t, int>{{2, 100}}));
}

TEST(Sampler, TopPCountsWithinTopK) {
  // Of the best two (4, 3) the first holds 4/7: at 0.55 it stands alone, though it has less of the whole.
  const auto logits = logs({2, 4, 1, 3, 1, 1});
  EXPECT_EQ(draw(seeded({.top_k = 2, .top_p = 0.55f}), kSix, logits, 200), (std::map<int32_t, int>{{1, 200}}));
}

TEST(Sampler, MinPIsAShareOfTheBest) {
  const auto logits = logs({2, 4, 1, 3, 0.9, 0.5});
  expect_shares(draw(seeded({.min_p = 0.24f}), kSix, logits, 30000), {2, 4, 1, 3, 0, 0}, 30000);
  EXPECT_EQ(draw(seeded({.min_p = 1}), kSix, logits, 100), (std::map<int32_t, int>{{1, 100}}));
}

TEST(Sampler, LogitBiasShiftsAndForbids) {
  EXPECT_EQ(first(seeded({.temperature = 0, .logit_bias = {{1, 5.0f}}}), kSix, {4, 0, 3, 2, 1, 0}), 1);
  EXPECT_EQ(draw(seeded({.logit_bias = {{0, -100.0f}, {2, -100.0f}}}), kSix, {9, 1, 9, -30, -30, -30}, 200),
            (std::map<int32_t, int>{{1, 200}}));
}

TEST(Sampler, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogitsOfPromptAndReply) {
  GenerateRequest request = greedy();
  request.sampling.repetition_penalty = 2;
  request.prompt = {0, 3, 3};  // twice in the prompt counts once
  EXPECT_EQ(first(request, kSix, {7, 3.4f, 0, 0, 0, 0}), 0);
  EXPECT_EQ(first(request, kSix, {7, 3.6f, 0, 0, 0, 0}), 1);
  EXPECT_EQ(first(request, kSix, {-1, -1.9f, -9, -1, -9, -9}), 1);
  Sampler sampler(request, kSix);
  std::vector<float> row = {0, 4, 3, 0, 0, 0};
  EXPECT_EQ(sampler.sample(row, 3)->id, 1);
  row = {0, 4, 3, 0, 0, 0};
  EXPECT_EQ(sampler.sample(row, 4)->id, 2);  // 1 is at 2 now
}

TEST(Sampler, FrequencyPenaltyCountsTheReplyAlone) {
  GenerateRequest request = greedy();
  request.sampling.frequency_penalty = 1;
  request.prompt = {0, 0, 0};
  Sampler sampler(request, kSix);
  std::vector<int32_t> ids;
  for (int i = 0; i < 6; ++i) {
    std::vector<float> row = {3.5f, 2.2f, 0, 0, 0, 0};
    ids.push_back(sampler.sample(row, 0)->id);
  }
  // 0 falls to 2.5 and 1.5, then 1 (2.2) has its turn and falls to 1.2, 0 (1.5) again...
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 0, 1, 0, 1, 0}));
}

TEST(Sampler, PresencePenaltyCountsOnce) {
  GenerateRequest request = greedy();
  request.sampling.presence_penalty = 1;
  Sampler sampler(request, kSix);
  std::vector<int32_t> ids;
  for (int i = 0; i < 5; ++i) {
    std::vector<float> row = {3.5f, 2.8f, 0, 0, 0, 0};
    ids.push_back(sampler.sample(row, 0)->id);
  }
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 0, 0, 0}));
}

TEST(Sampler, StopTokensWaitForMinTokens) {
  GenerateRequest request = greedy();
  request.min_tokens = 2;
  request.stop_token_ids = {1};
  Sampler sampler(request, kSix);
  std::vector<int32_t> ids;
  for (int i = 0; i < 3; ++i) {
    std::vector<float> row = {1, 8, 2, 3, 4, 9};  // 5 is the model's stop token, 1 the request's
    const auto event = sampler.sample(row, 0).value();
    ids.push_back(event.id);
    EXPECT_EQ(event.is_stop, i == 2);
  }
  EXPECT_EQ(ids, (std::vector<int32_t>{4, 4, 5}));
}

TEST(Sampler, IgnoredEosIsAnOrdinaryToken) {
  GenerateRequest request = greedy();
  request.ignore_eos = true;
  request.min_tokens = 5;
  Sampler sampler(request, kSix);
  std::vector<float> row = {1, 8, 2, 3, 4, 9};
  const auto event = sampler.sample(row, 0).value();
  EXPECT_EQ(event.id, 5);
  EXPECT_FALSE(event.is_stop);
}

TEST(Sampler, PaddingRowsAreNeverChosen) {
  const Vocabulary vocabulary{.rows = 6, .unsampled = {2, 4}, .stops = {}};
  EXPECT_EQ(first(greedy(), vocabulary, {0, 1, 9, 2, 9, 1}), 3);
  for (const SamplingParams& params : {SamplingParams{}, SamplingParams{.top_k = 5}, SamplingParams{.top_p = 0.99f}}) {
    const auto counts = draw(seeded(params), vocabulary, {0, 1, 9, 2, 9, 1}, 500);
    EXPECT_FALSE(counts.contains(2));
    EXPECT_FALSE(counts.contains(4));
  }
}

TEST(Sampler, NothingLeftIsAnError) {
  const Vocabulary vocabulary{.rows = 2, .unsampled = {0}, .stops = {1}};
  GenerateRequest request = greedy();
  request.min_tokens = 1;
  Sampler sampler(request, vocabulary);
  std::vector<float> row = {1, 2};
  EXPECT_FALSE(sampler.sample(row, 0));
}

TEST(Sampler, NanAndInfinityAreErrors) {
  for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
    for (const size_t where : {0, 3, 5}) {
      std::vector<float> row = {1, 2, 3, 4, 5, 6};
      row[where] = bad;
      Sampler sampler(greedy(), kSix);
      const auto event = sampler.sample(row, 17);
      ASSERT_FALSE(event);
      EXPECT_NE(event.error().message.find("NaN"), std::string::npos);
    }
  }
}

TEST(Sampler, LogprobsAreTheModelsOwn) {
  GenerateRequest request = seeded({.temperature = 0.1f, .repetition_penalty = 3, .logit_bias = {{1, 50.0f}}});
  request.top_logprobs = 3;
  const Vocabulary vocabulary{.rows = 6, .unsampled = {4}, .stops = {}};
  Sampler sampler(request, vocabulary);
  std::vector<float> row = logs({2, 1, 4, 3, 8, 2});
  const auto event = sampler.sample(row, 0).value();
  EXPECT_EQ(event.id, 1);
  EXPECT_NEAR(event.logprob, std::log(1.0 / 20), 1e-6);
  ASSERT_EQ(event.top.size(), 3u);  // the padding row, 4, is not shown; equals by id
  EXPECT_EQ(event.top[0].id, 2);
  EXPECT_EQ(event.top[1].id, 3);
  EXPECT_EQ(event.top[2].id, 0);
  EXPECT_NEAR(event.top[0].logprob, std::log(4.0 / 20), 1e-6);
}

TEST(Sampler, ScoresATokenThatWasNotSampled) {
  GenerateRequest request = greedy();
  request.top_logprobs = 1;
  Sampler sampler(request, kSix);
  const auto event = sampler.score(logs({2, 1, 4, 3, 8, 2}), 3).value();
  EXPECT_NEAR(event.logprob, std::log(3.0 / 20), 1e-6);
  ASSERT_EQ(event.top.size(), 1u);
  EXPECT_EQ(event.top[0].id, 4);
}

TEST(Sampler, TheSameSeedGivesTheSameTokensAndAnotherSeedOthers) {
  std::vector<float> logits(1000);
  std::mt19937 rng(3);
  std::normal_distribution<float> normal;
  for (float& z : logits) z = normal(rng);
  const Vocabulary vocabulary{.rows = 1000, .unsampled = {}, .stops = {}};
  const auto ids = [&](uint64_t seed) {
    Sampler sampler(seeded({}, seed), vocabulary);
    std::vector<int32_t> result;
    for (uint64_t position = 0; position < 50; ++position) {
      std::vector<float> row = logits;
      result.push_back(sampler.sample(row, position)->id);
    }
    return result;
  };
  EXPECT_EQ(ids(5), ids(5));
  EXPECT_NE(ids(5), ids(6));
}

// The token at a position depends on seed and position, not on how many were drawn before.
TEST(Sampler, DrawsDependOnThePositionAlone) {
  const auto logits = logs({1, 2, 3, 4, 5, 6});
  Sampler whole(seeded({}), kSix);
  std::vector<int32_t> ids;
  for (uint64_t position = 0; position < 40; ++position) {
    std::vector<float> row = logits;
    ids.push_back(whole.sample(row, position)->id);
  }
  for (uint64_t position = 0; position < 40; ++position) {
    Sampler fresh(seeded({}), kSix);
    std::vector<float> row = logits;
    EXPECT_EQ(fresh.sample(row, position)->id, ids[position]);
  }
}

// The quick selections against a full sort, on a vocabulary wide enough to need several rounds of them.
TEST(Sampler, WideVocabularyAgreesWithAFullSort) {
  constexpr size_t kRows = 5000;
  std::vector<float> logits(kRows);
  std::mt19937 rng(11);
  std::normal_distribution<float> normal;
  for (float& z : logits) z = std::round(normal(rng) * 8) / 8;  // many equals
  std::vector<int32_t> order(kRows);
  for (size_t i = 0; i < kRows; ++i) order[i] = static_cast<int32_t>(i);
  std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]; });
  std::vector<plan::Candidate> found;
  for (const size_t k : {size_t{1}, size_t{20}, size_t{300}, size_t{4999}, size_t{5000}, size_t{9000}}) {
    largest(logits, k, found);
    ASSERT_EQ(found.size(), std::min(k, kRows));
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].id, order[i]) << "k " << k << ", rank " << i;
  }
  // top_p 0.9 needs more than a thousand of these: nothing outside that prefix may be drawn.
  double total = 0;
  for (const float z : logits) total += std::exp(static_cast<double>(z));
  size_t kept = 0;
  for (double sum = 0; sum < 0.9 * total; ++kept) sum += std::exp(static_cast<double>(logits[static_cast<size_t>(order[kept])]));
  std::vector<bool> allowed(kRows);
  for (size_t i = 0; i < kept; ++i) allowed[static_cast<size_t>(order[i])] = true;
  const Vocabulary vocabulary{.rows = kRows, .unsampled = {}, .stops = {}};
  for (const auto& [id, n] : draw(seeded({.top_p = 0.9f}), vocabulary, logits, 500)) {
    EXPECT_TRUE(allowed[static_cast<size_t>(id)]) << id;
  }
}

TEST(Sampler, CheckNamesTheParameter) {
  const Vocabulary vocabulary{.rows = 6, .unsampled = {4}, .stops = {5}};
  const auto message = [&](const std::function<void(GenerateRequest&)>& spoil) {
    GenerateRequest request = greedy();
    spoil(request);
    const Status status = Sampler::check(request, vocabulary);
    return status ? std::string("accepted") : status.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "accepted");
  EXPECT_TRUE(message([](auto& r) { r.sampling.temperature = -1; }).starts_with("temperature is -1"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.temperature = std::nanf(""); }).starts_with("temperature is nan"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.temperature = kInfinity; }).starts_with("temperature is inf"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.top_k = -2; }).starts_with("top_k is -2"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.top_p = 1.5f; }).starts_with("top_p is 1.5"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.min_p = -0.5f; }).starts_with("min_p is -0.5"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.presence_penalty = 3; }).starts_with("presence_penalty is 3"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.frequency_penalty = -3; }).starts_with("frequency_penalty is -3"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.repetition_penalty = 0; }).starts_with("repetition_penalty is 0"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.logit_bias[6] = 1; }).starts_with("logit_bias: no token has the id 6"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.logit_bias[4] = 1; }).starts_with("logit_bias: no token has the id 4"));
  EXPECT_TRUE(message([](auto& r) { r.sampling.logit_bias[1] = 101; }).starts_with("logit_bias is 101"));
  EXPECT_TRUE(message([](auto& r) { r.stop_token_ids = {-1}; }).starts_with("stop_token_ids: no token has the id -1"));
  EXPECT_TRUE(message([](auto& r) { r.max_tokens = 2, r.min_tokens = 3; }).starts_with("min_tokens is 3"));
  EXPECT_TRUE(message([](auto& r) { r.top_logprobs = 7; }).starts_with("top_logprobs is 7"));
}

}  // namespace
}  // namespace teapot::engine
