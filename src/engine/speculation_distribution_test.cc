// Sampled replies follow the model's probabilities, with drafts and without.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/collecting_sink.h"
#include "engine/distribution.h"
#include "engine/engine.h"
#include "engine/golden_testing.h"

namespace teapot::engine {
namespace {

constexpr uint32_t kReplies = 100'000;
const cpu::Options kBackend{.threads = 1, .bind = "off"};

using Pair = std::pair<int32_t, int32_t>;  // the first two tokens of a reply

std::vector<int32_t> prompt() {
  std::vector<int32_t> ids = golden::integers("moe_v36/golden/ids.npy");
  ids.resize(20);
  return ids;
}

// log-probabilities after `ids`, at temperature 1.
std::vector<double> next_after(Evaluator& evaluator, const std::vector<int32_t>& ids) {
  const auto evaluation = evaluator.run(ids, {});
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  const size_t vocab = evaluation->logits.size() / ids.size();
  const std::span<const float> row = std::span(evaluation->logits).last(vocab);
  const double normaliser = log_sum_exp(row);
  std::vector<double> probabilities;
  for (const float z : row) probabilities.push_back(std::exp(z - normaliser));
  return probabilities;
}

std::map<Pair, uint32_t> sampled(std::optional<uint32_t> mtp) {
  auto model = model::load_model(golden::folder("moe_v36").string());
  EXPECT_TRUE(model) << model.error().message;
  EngineOptions options{.backend = kBackend};
  options.mtp = mtp;
  options.max_queue = 1000;
  const auto engine = Engine::create(*std::move(model), {}, options, [](uint64_t, uint64_t) {});
  EXPECT_TRUE(engine) << engine.error().message;
  std::map<Pair, uint32_t> counts;
  DraftCounts drafts;
  for (uint32_t begin = 0; begin < kReplies; begin += 1000) {
    std::vector<std::shared_ptr<CollectingSink>> sinks;
    for (uint32_t i = begin; i < std::min(begin + 1000, kReplies); ++i) {
      sinks.push_back(std::make_shared<CollectingSink>());
      GenerateRequest request;
      request.prompt = prompt();
      request.sampling.seed = i;
      request.max_tokens = 3;
      request.ignore_eos = true;
      request.message_end = static_cast<uint32_t>(request.prompt.size()) - 1;
      EXPECT_TRUE((*engine)->submit(std::move(request), {sinks.back()}));
    }
    for (const auto& sink : sinks) {
      drafts += sink->wait().timings.drafts;
      const std::vector<int32_t> ids = sink->ids();
      ++counts[{ids.at(0), ids.at(1)}];
    }
  }
  EXPECT_EQ(drafts.rounds > 0, mtp != 0u);
  return counts;
}

TEST(SpeculationDistribution, SampledRepliesFollowTheModel) {
  auto evaluator = golden::evaluator(golden::folder("moe_v36"), kBackend);
  ASSERT_NE(evaluator, nullptr);
  const std::map<Pair, uint32_t> counts = sampled(0);
  EXPECT_EQ(sampled(2), counts);  // seeds are the same, so are replies

  // Cells that are expected to be hit at least five times; all others are one.
  double statistic = 0, expected_rest = kReplies, seen_rest = kReplies;
  uint32_t cells = 0;
  const std::vector<double> first = next_after(*evaluator, prompt());
  for (size_t a = 0; a < first.size(); ++a) {
    if (first[a] * kReplies < 5) continue;
    std::vector<int32_t> ids = prompt();
    ids.push_back(static_cast<int32_t>(a));
    const std::vector<double> second = next_after(*evaluator, ids);
    for (size_t b = 0; b < second.size(); ++b) {
      const double expected = first[a] * second[b] * kReplies;
      if (expected < 5) continue;
      const auto found = counts.find({static_cast<int32_t>(a), static_cast<int32_t>(b)});
      const double seen = found == counts.end() ? 0 : found->second;
      statistic += (seen - expected) * (seen - expected) / expected;
      expected_rest -= expected;
      seen_rest -= seen;
      ++cells;
    }
  }
  statistic += (seen_rest - expected_rest) * (seen_rest - expected_rest) / expected_rest;
  // Wilson and Hilferty: the cube root of a chi-square over its degrees of freedom is nearly normal.
  const double spread = 2.0 / (9.0 * cells), z = (std::cbrt(statistic / cells) - (1 - spread)) / std::sqrt(spread);
  EXPECT_GT(cells, 50u);
  EXPECT_LT(std::abs(z), 3.5) << statistic << " over " << cells << " cells";
}

}  // namespace
}  // namespace teapot::engine
