// The packet of a step, field by field.
#include "engine/step_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace teapot::engine {
namespace {

using plan::RowReturn;
using plan::StepKind;

constexpr float kOut = -std::numeric_limits<float>::infinity();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class StepBuilderTest : public testing::Test {
 protected:
  // Its state holds `committed` of its tokens; those after the prompt are its reply.
  Sequence& add(GenerateRequest request, uint32_t committed, const std::vector<int32_t>& reply = {}) {
    auto job = std::make_shared<Job>();
    job->request = std::move(request);
    auto& sequence = *sequences.emplace_back(std::make_unique<Sequence>(job, 0, vocabulary, 1000));
    sequence.slot = static_cast<plan::SlotId>(10 + sequences.size());
    sequence.committed = committed;
    for (const int32_t id : reply) {
      EXPECT_TRUE(sequence.sampler.take(id, 1, sequence.tokens.size()));
      sequence.tokens.push_back(id);
    }
    return sequence;
  }

  static GenerateRequest prompt_of(uint32_t tokens, SamplingParams sampling = {.temperature = 0, .seed = 1}) {
    GenerateRequest request{.sampling = std::move(sampling)};
    for (uint32_t i = 0; i < tokens; ++i) request.prompt.push_back(static_cast<int32_t>(i % 50));
    return request;
  }
  static std::vector<int32_t> ids_of(std::span<const plan::LogitBias> biases) {
    std::vector<int32_t> ids;
    for (const plan::LogitBias& bias : biases) ids.push_back(bias.id);
    return ids;
  }
  std::span<const plan::LogitBias> mask(size_t row) const {
    const plan::StepPacket& packet = builder.packet();
    return std::span(packet.biases).subspan(packet.masks[row].first, packet.masks[row].count);
  }

  SchedulerOptions options{.prefill_chunk = 64, .tpot_stretch = kInfinity};
  Vocabulary vocabulary{.rows = 64, .unsampled = {61, 63}, .stops = {5}};
  StepCost cost{72};
  StepBuilder builder{options, vocabulary, cost};
  std::vector<std::unique_ptr<Sequence>> sequences;
};

TEST_F(StepBuilderTest, WithNothingToRunThereIsNoStep) {
  EXPECT_FALSE(builder.build(sequences));
  add(prompt_of(10), 0).slot.reset();  // waits for another's state
  EXPECT_FALSE(builder.build(sequences));
  EXPECT_EQ(sequences[0]->rows, 0u);
}

TEST_F(StepBuilderTest, AllThatDecodeAndPiecesOfPromptsInTheirOrder) {
  Sequence& reading = add(prompt_of(50), 20);
  Sequence& decoding = add(prompt_of(3), 4, {7, 8});
  Sequence& waiting = add(prompt_of(30), 0);
  waiting.slot.reset();
  Sequence& behind = add(prompt_of(100), 0);
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(builder.decode_rows(), 1u);
  EXPECT_EQ(builder.prefill_rows(), 64u);

  const plan::StepPacket& packet = builder.packet();
  ASSERT_EQ(packet.tokens.size(), 65u);
  ASSERT_EQ(packet.sequences.size(), 3u);
  uint32_t row = 0;
  const std::vector<const Sequence*> expected = {&reading, &decoding, &behind};
  for (size_t i = 0; i < expected.size(); ++i) {
    const Sequence& sequence = *expected[i];
    const plan::SequenceRows& rows = packet.sequences[i];
    EXPECT_EQ(rows.slot, *sequence.slot);
    EXPECT_EQ(rows.first_row, row);
    EXPECT_EQ(rows.rows, sequence.rows);
    EXPECT_EQ(rows.position, sequence.committed);
    EXPECT_EQ(rows.kind, &sequence == &decoding ? StepKind::kDecode : StepKind::kPrefill);
    for (uint32_t t = 0; t < rows.rows; ++t, ++row) EXPECT_EQ(packet.tokens[row], sequence.tokens[sequence.committed + t]);
  }
  EXPECT_EQ(reading.rows, 30u);
  EXPECT_EQ(decoding.rows, 1u);
  EXPECT_EQ(packet.tokens[30], 8);  // what was sampled last
  EXPECT_EQ(behind.rows, 34u);
  EXPECT_EQ(waiting.rows, 0u);

  // Only where the tokens that are known end.
  for (size_t i = 0; i < 65; ++i) EXPECT_EQ(packet.returns[i], i == 29 || i == 30 ? RowReturn::kArgmax : RowReturn::kNothing) << i;
  EXPECT_EQ(reading.first_result, 0u);
  EXPECT_EQ(decoding.first_result, 1u);
}

TEST_F(StepBuilderTest, APieceEndsAtTheNextCut) {
  Sequence& one = add(prompt_of(50), 10);
  one.cuts = {10, 17, 30};
  Sequence& two = add(prompt_of(50), 0);
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(one.rows, 7u);
  EXPECT_EQ(two.rows, 50u);
  one.committed = 17;
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(one.rows, 13u);
  one.committed = 30;
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(one.rows, 20u);
}

TEST_F(StepBuilderTest, TheStretchLimitsPromptsOnlyBesideReplies) {
  options.tpot_stretch = 2;
  for (const uint32_t rows : cost.nodes()) cost.observe(rows, 10 + rows);
  Sequence& reading = add(prompt_of(60), 0);
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(reading.rows, 60u);
  add(prompt_of(3), 3, {9});
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(reading.rows, 11u);  // 2 x 11 ms: as much again
}

TEST_F(StepBuilderTest, NowAndThenAStepHasNoPieceSoThatTheLimitIsKnown) {
  add(prompt_of(3), 3, {9});
  Sequence& reading = add(prompt_of(60), 0);
  const auto pieces_of_100 = [&] {
    uint32_t pieces = 0;
    for (uint32_t step = 0; step < 100; ++step) {
      EXPECT_TRUE(builder.build(sequences));
      EXPECT_EQ(builder.decode_rows(), 1u);
      pieces += reading.rows > 0;
    }
    return pieces;
  };
  EXPECT_EQ(pieces_of_100(), 100u);
  options.tpot_stretch = 2;
  EXPECT_LT(pieces_of_100(), 100u);
  EXPECT_GE(pieces_of_100(), 95u);
  sequences.erase(sequences.begin());
  for (uint32_t step = 0; step < 100; ++step) {
    ASSERT_TRUE(builder.build(sequences));  // with nobody to hold up there is no limit
    EXPECT_EQ(reading.rows, 60u);
  }
}

TEST_F(StepBuilderTest, MasksAreSharedUnlessARequestHasItsOwn) {
  add(prompt_of(2), 2, {9});
  add(prompt_of(2, {.temperature = 0, .logit_bias = {{3, -2}, {62, 1}}}), 2, {9});
  GenerateRequest patient = prompt_of(2);
  patient.min_tokens = 2;
  patient.stop_token_ids = {62};
  add(patient, 2, {9});
  add(patient, 3, {9, 9});  // has its two
  add(prompt_of(2), 0);
  ASSERT_TRUE(builder.build(sequences));
  const plan::StepPacket& packet = builder.packet();
  ASSERT_EQ(packet.masks.size(), packet.tokens.size());
  EXPECT_EQ(ids_of(mask(0)), vocabulary.unsampled);
  EXPECT_EQ(mask(0)[0].bias, kOut);
  EXPECT_EQ(ids_of(mask(1)), (std::vector<int32_t>{3, 61, 62, 63}));
  EXPECT_EQ(mask(1)[0].bias, -2);
  EXPECT_EQ(ids_of(mask(2)), (std::vector<int32_t>{5, 61, 62, 63}));
  for (const size_t plain : {3u, 5u}) {
    EXPECT_EQ(packet.masks[plain].first, packet.masks[0].first);
    EXPECT_EQ(packet.masks[plain].count, packet.masks[0].count);
  }
  EXPECT_EQ(packet.masks[4].count, 0u);  // within a prompt
}

TEST_F(StepBuilderTest, ARebuiltMaskNeedsAllLogits) {
  Sequence& plain = add(prompt_of(2), 2, {9});
  add(prompt_of(2, {.temperature = 1, .top_k = 4, .logit_bias = {{3, -2}}}), 2, {9});
  options.logits_mask = LogitsMask::kRebuild;
  ASSERT_TRUE(builder.build(sequences));
  for (size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(builder.packet().returns[row], RowReturn::kLogits);
    EXPECT_EQ(builder.packet().masks[row].count, 0u);
  }
  vocabulary.unsampled.clear();
  EXPECT_EQ(builder.wants(plain), RowReturn::kArgmax);
}

TEST_F(StepBuilderTest, ARowGivesTheLeastThatItsSamplerNeeds) {
  add(prompt_of(2), 2, {9});
  add(prompt_of(2, {.temperature = 1, .top_k = 7}), 2, {9});
  add(prompt_of(2, {.temperature = 1, .top_k = 20}), 2, {9});
  add(prompt_of(2, {.temperature = 1}), 2, {9});
  GenerateRequest likely = prompt_of(2);
  likely.top_logprobs = 0;
  add(likely, 1);
  ASSERT_TRUE(builder.build(sequences));
  const plan::StepPacket& packet = builder.packet();
  EXPECT_EQ(packet.returns, (std::vector{RowReturn::kArgmax, RowReturn::kTopK, RowReturn::kTopK, RowReturn::kLogits, RowReturn::kLogits}));
  EXPECT_EQ(packet.top_k, 20u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(sequences[i]->first_result, i);
  sequences.erase(sequences.begin() + 1, sequences.begin() + 3);
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(builder.packet().top_k, 0u);
}

TEST_F(StepBuilderTest, ScoredPromptsGiveFewRowsAtATime) {
  GenerateRequest scored = prompt_of(40);
  scored.prompt_logprobs = true;
  Sequence& one = add(scored, 0);
  Sequence& two = add(scored, 0);
  Sequence& usual = add(prompt_of(20), 0);
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(one.rows, 32u);
  EXPECT_EQ(two.rows, 0u);  // its logits would be too many
  EXPECT_EQ(usual.rows, 20u);
  EXPECT_EQ(std::ranges::count(builder.packet().returns, RowReturn::kLogits), 32);
  EXPECT_EQ(usual.first_result, 32u);

  one.committed = 32;
  usual.committed = 20;
  usual.tokens.push_back(9);
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(one.rows, 8u);
  EXPECT_EQ(two.rows, 24u);
  EXPECT_EQ(two.first_result, 8u);
  EXPECT_EQ(usual.first_result, 32u);

  // What it says is asked for like anybody's.
  one.committed = 40;
  one.tokens.push_back(9);
  two.slot.reset();
  ASSERT_TRUE(builder.build(sequences));
  EXPECT_EQ(builder.packet().returns, (std::vector{RowReturn::kArgmax, RowReturn::kArgmax}));
}

}  // namespace
}  // namespace teapot::engine
