// What a sampler asks of a row, and that it makes the same token of it as of all logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "engine/sampler.h"
#include "plan/candidate_order.h"

namespace teapot::engine {
namespace {

using plan::RowReturn;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kRows = 300;

const Vocabulary kVocabulary{.rows = kRows, .unsampled = {17, 18, 290, 291, 292, 293, 299}, .stops = {5, 20, 289}};

GenerateRequest with(SamplingParams params) { return {.prompt = {0}, .sampling = std::move(params)}; }

// A few values only: most ids have equals.
std::vector<float> random_logits(std::mt19937& rng) {
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> logits(kRows);
  for (float& z : logits) z = std::round(normal(rng) * 2) / 2;
  return logits;
}

// The head's part, by a full sort: the ids that are left after the biases, in the order of candidates.
std::vector<plan::Candidate> ranked(std::vector<float> logits, const Sampler& sampler) {
  std::vector<plan::LogitBias> biases;
  sampler.biases(0, biases);
  for (const auto& [id, bias] : biases) logits[static_cast<size_t>(id)] += bias;
  std::vector<plan::Candidate> result;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > -kInfinity) result.push_back({logits[i], static_cast<int32_t>(i)});
  }
  std::ranges::sort(result, plan::before);
  return result;
}

// The next token from no more than the sampler wants; `more` candidates than that, where it wants some.
Result<TokenEvent> lean(Sampler& sampler, std::vector<float> logits, uint64_t position, uint32_t more) {
  const std::vector<plan::Candidate> best = ranked(logits, sampler);
  switch (sampler.wants()) {
    case RowReturn::kArgmax:
      return best.empty() ? sampler.take(-1, -kInfinity, position) : sampler.take(best[0].id, best[0].logit, position);
    case RowReturn::kTopK:
      return sampler.sample(std::span(best).first(std::min<size_t>(best.size(), sampler.top_k() + more)), position);
    default:
      return sampler.sample(logits, position);
  }
}

TEST(SamplerReturns, AskForNoMoreThanTheRequestNeeds) {
  const auto wants = [](SamplingParams params, std::optional<uint32_t> logprobs = {}) {
    GenerateRequest request = with(std::move(params));
    request.top_logprobs = logprobs;
    return Sampler(request, kVocabulary).wants();
  };
  EXPECT_EQ(wants({.temperature = 0}), RowReturn::kArgmax);
  EXPECT_EQ(wants({.temperature = 0, .top_k = 5, .logit_bias = {{1, 2.0f}}}), RowReturn::kArgmax);
  EXPECT_EQ(wants({.top_k = 1}), RowReturn::kTopK);
  EXPECT_EQ(wants({.top_k = plan::kMaxTopK, .top_p = 0.5f, .min_p = 0.1f, .logit_bias = {{1, 2.0f}}}), RowReturn::kTopK);
  EXPECT_EQ(wants({.top_k = plan::kMaxTopK + 1}), RowReturn::kLogits);
  EXPECT_EQ(wants({}), RowReturn::kLogits);
  EXPECT_EQ(wants({.top_k = -1}), RowReturn::kLogits);
  EXPECT_EQ(wants({.top_p = 0.9f}), RowReturn::kLogits);
  EXPECT_EQ(wants({.temperature = 0}, 0), RowReturn::kLogits);
  EXPECT_EQ(wants({.top_k = 5}, 3), RowReturn::kLogits);
  EXPECT_EQ(wants({.temperature = 0, .presence_penalty = 1}), RowReturn::kLogits);
  EXPECT_EQ(wants({.top_k = 5, .frequency_penalty = 1}), RowReturn::kLogits);
  EXPECT_EQ(wants({.temperature = 0, .repetition_penalty = 1.1f}), RowReturn::kLogits);

  const Vocabulary few{.rows = 6, .unsampled = {}, .stops = {}};
  EXPECT_EQ(Sampler(with({.top_k = 5}), few).wants(), RowReturn::kTopK);
  EXPECT_EQ(Sampler(with({.top_k = 6}), few).wants(), RowReturn::kLogits);
}

TEST(SamplerReturns, GiveTheTokensOfAllLogits) {
  std::vector<SamplingParams> all;
  for (const float temperature : {0.0f, 1e-3f, 0.7f, 4.0f}) {
    for (const int top_k : {0, 1, 2, 20, 64, 65}) {
      for (const float top_p : {1.0f, 0.9f, 0.3f, 0.0f}) {
        for (const float min_p : {0.0f, 0.05f}) all.push_back({.temperature = temperature, .top_k = top_k, .top_p = top_p, .min_p = min_p});
      }
    }
  }
  std::mt19937 rng(5);
  size_t asked[4] = {};
  for (size_t i = 0; i < 8 * all.size(); ++i) {
    GenerateRequest request = with(all[i / 8]);
    request.stop_token_ids = {7, 100};
    request.sampling.seed = rng();
    request.min_tokens = i & 1 ? 4 : 0;
    if (i & 2) request.sampling.logit_bias = {{0, 3.0f}, {5, 9.0f}, {7, 8.5f}, {200, -100.0f}, {298, 7.25f}};
    ASSERT_TRUE(Sampler::check(request, kVocabulary));
    const uint32_t choice = i & 4 ? 1 : 0;
    Sampler full(request, kVocabulary, choice), least(request, kVocabulary, choice);
    ++asked[static_cast<size_t>(least.wants())];
    for (uint64_t position = 1; position <= 8; ++position) {
      std::vector<float> logits = random_logits(rng);
      const auto got = lean(least, logits, position, static_cast<uint32_t>(rng() % 4 * 10));
      const auto expected = full.sample(logits, position);
      ASSERT_TRUE(got && expected);
      const SamplingParams& p = request.sampling;
      ASSERT_EQ(got->id, expected->id) << "temperature " << p.temperature << ", top_k " << p.top_k << ", top_p " << p.top_p << ", min_p "
                                       << p.min_p << ", case " << i % 8 << ", position " << position;
      EXPECT_EQ(got->is_stop, expected->is_stop);
      EXPECT_FALSE(got->is_stop && position <= request.min_tokens);
    }
  }
  EXPECT_GT(asked[static_cast<size_t>(RowReturn::kArgmax)], 100u);
  EXPECT_GT(asked[static_cast<size_t>(RowReturn::kTopK)], 100u);
}

std::vector<std::pair<int32_t, float>> biases_of(const Sampler& sampler) {
  std::vector<plan::LogitBias> biases;
  sampler.biases(0, biases);
  std::vector<std::pair<int32_t, float>> result;
  for (const auto& [id, bias] : biases) result.emplace_back(id, bias);
  return result;
}

TEST(SamplerReturns, BiasesAreAscendingMergedAndThoseOfTheNextToken) {
  const Vocabulary vocabulary{.rows = 10, .unsampled = {3, 9}, .stops = {5}};
  using Biases = std::vector<std::pair<int32_t, float>>;
  const Biases plain = {{3, -kInfinity}, {9, -kInfinity}};

  const Sampler nothing(with({.temperature = 0}), vocabulary);
  EXPECT_EQ(biases_of(nothing), plain);
  EXPECT_TRUE(nothing.plain_mask(0));

  GenerateRequest request = with({.temperature = 0, .logit_bias = {{1, 2.0f}, {8, -1.0f}}});
  request.min_tokens = 2;
  request.stop_token_ids = {5, 1};
  Sampler sampler(request, vocabulary);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(biases_of(sampler), (Biases{{1, -kInfinity}, {3, -kInfinity}, {5, -kInfinity}, {8, -1.0f}, {9, -kInfinity}}));
    EXPECT_FALSE(sampler.plain_mask(0));
    ASSERT_TRUE(sampler.take(0, 1.0f, 1));
  }
  EXPECT_EQ(biases_of(sampler), (Biases{{1, 2.0f}, {3, -kInfinity}, {8, -1.0f}, {9, -kInfinity}}));
  EXPECT_FALSE(sampler.plain_mask(0));

  request.sampling.logit_bias.clear();
  Sampler waiting(request, vocabulary);
  EXPECT_FALSE(waiting.plain_mask(0));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(waiting.take(0, 1.0f, 1));
  EXPECT_TRUE(waiting.plain_mask(0));
  EXPECT_EQ(biases_of(waiting), plain);

  // They are added behind what is there.
  std::vector<plan::LogitBias> out = {{7, 1.0f}};
  waiting.biases(0, out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].id, 7);
}

TEST(SamplerReturns, NanInfinityAndNothingLeftAreErrors) {
  const auto message = [](const Result<TokenEvent>& event) {
    EXPECT_FALSE(event);
    EXPECT_EQ(event.error().kind, ErrorKind::kInternal);
    return event.error().message;
  };
  const Vocabulary vocabulary{.rows = 4, .unsampled = {3}, .stops = {0, 1, 2}};
  GenerateRequest request = with({.top_k = 2});
  Sampler sampler(request, vocabulary);
  const plan::Candidate infinite{kInfinity, 1};
  EXPECT_NE(message(sampler.take(-1, std::nanf(""), 17)).find("after 17 tokens hold NaN"), std::string::npos);
  EXPECT_NE(message(sampler.take(1, kInfinity, 17)).find("weights are broken"), std::string::npos);
  EXPECT_NE(message(sampler.sample(std::span<const plan::Candidate>(), 17)).find("weights are broken"), std::string::npos);
  EXPECT_NE(message(sampler.sample(std::span(&infinite, 1), 17)).find("weights are broken"), std::string::npos);

  request.min_tokens = 1;
  Sampler nothing(request, vocabulary);
  EXPECT_NE(message(nothing.take(-1, -kInfinity, 17)).find("no token is left"), std::string::npos);
  EXPECT_NE(message(nothing.sample(std::span<const plan::Candidate>(), 17)).find("no token is left"), std::string::npos);
}

TEST(SamplerReturns, ChoicesOfASeedDrawDifferently) {
  const GenerateRequest request = with({.temperature = 4, .seed = 9});
  const auto ids = [&](Sampler sampler) {
    std::mt19937 rng(1);
    std::vector<int32_t> result;
    for (uint64_t position = 0; position < 20; ++position) {
      std::vector<float> logits = random_logits(rng);
      result.push_back(sampler.sample(logits, position)->id);
    }
    return result;
  };
  EXPECT_EQ(ids(Sampler(request, kVocabulary)), ids(Sampler(request, kVocabulary, 0)));
  EXPECT_EQ(ids(Sampler(request, kVocabulary, 2)), ids(Sampler(request, kVocabulary, 2)));
  EXPECT_NE(ids(Sampler(request, kVocabulary, 0)), ids(Sampler(request, kVocabulary, 1)));
  EXPECT_NE(ids(Sampler(request, kVocabulary, 1)), ids(Sampler(request, kVocabulary, 2)));
}

}  // namespace
}  // namespace teapot::engine
