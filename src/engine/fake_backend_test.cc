// What the tests that rest on the fake backend take for granted.
#include "engine/fake_backend.h"

#include <cmath>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "engine/fake_runner.h"

namespace teapot::engine {
namespace {

using Tokens = std::vector<int32_t>;
using plan::RowReturn;

constexpr float kOut = -std::numeric_limits<float>::infinity();

Tokens tokens(uint32_t count, uint32_t seed = 0) {
  Tokens result(count);
  for (uint32_t i = 0; i < count; ++i) result[i] = static_cast<int32_t>((i * 7 + i / 5 + seed * 3) % FakeBackend::kVocab);
  return result;
}

// One step of a fresh sequence, one answer for the last row.
struct OneRow {
  FakeBackend backend;
  plan::StepResult result;
  explicit OneRow(FakeBackend::Options options = {}) : backend(std::move(options)) {}

  Status run(const Tokens& tokens, RowReturn what, std::vector<plan::LogitBias> biases = {}) {
    const auto rows = static_cast<uint32_t>(tokens.size());
    plan::StepPacket packet{.tokens = tokens,
                            .sequences = {{.slot = *backend.open_slot(rows), .first_row = 0, .rows = rows, .position = 0}},
                            .returns = std::vector<RowReturn>(rows, RowReturn::kNothing),
                            .top_k = 5};
    packet.returns.back() = what;
    if (!biases.empty()) {
      packet.masks.resize(rows);
      packet.masks.back() = {.first = 0, .count = static_cast<uint32_t>(biases.size())};
      packet.biases = std::move(biases);
    }
    return backend.run(*backend.prepare({.shape = {rows}, .buffers = {}, .ops = {}}), packet, result);
  }
};

TEST(FakeBackend, AllReturnsOfARowAgree) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Tokens prompt = tokens(10, seed);
    OneRow row;
    ASSERT_TRUE(row.run(prompt, RowReturn::kArgmax));
    const int32_t best = row.result.argmax[0];
    EXPECT_EQ(best, FakeBackend::next_token(prompt));
    const float max = row.result.max[0];
    ASSERT_TRUE(row.run(prompt, RowReturn::kLogits));
    const std::span<float> logits = row.result.logits[0];
    EXPECT_EQ(std::ranges::max_element(logits) - logits.begin(), best);
    EXPECT_EQ(logits[static_cast<size_t>(best)], max);
    const FakeBackend::Logits all = FakeBackend::logits_after(prompt);
    EXPECT_TRUE(std::ranges::equal(logits, all));

    ASSERT_TRUE(row.run(prompt, RowReturn::kTopK));
    const auto top = row.result.top[0];
    ASSERT_EQ(top.size(), 5u);
    EXPECT_EQ(top[0].id, best);
    for (size_t i = 1; i < top.size(); ++i) {
      EXPECT_TRUE(top[i - 1].logit > top[i].logit || (top[i - 1].logit == top[i].logit && top[i - 1].id < top[i].id));
      EXPECT_EQ(top[i].logit, all[static_cast<size_t>(top[i].id)]);
    }
  }
}

TEST(FakeBackend, HonoursBiases) {
  const Tokens prompt = tokens(10);
  const int32_t best = FakeBackend::next_token(prompt);
  OneRow row;
  ASSERT_TRUE(row.run(prompt, RowReturn::kTopK));
  const int32_t second = row.result.top[0][1].id;
  ASSERT_TRUE(row.run(prompt, RowReturn::kArgmax, {{best, kOut}}));
  EXPECT_EQ(row.result.argmax[0], second);
  ASSERT_TRUE(row.run(prompt, RowReturn::kTopK, {{best, kOut}}));
  EXPECT_EQ(row.result.top[0][0].id, second);
  ASSERT_TRUE(row.run(prompt, RowReturn::kLogits, {{best, kOut}}));
  EXPECT_EQ(row.result.logits[0][static_cast<size_t>(best)], FakeBackend::logits_after(prompt)[static_cast<size_t>(best)]);
  std::vector<plan::LogitBias> all;
  for (int32_t id = 0; id < static_cast<int32_t>(FakeBackend::kVocab); ++id) all.push_back({id, kOut});
  ASSERT_TRUE(row.run(prompt, RowReturn::kArgmax, all));
  EXPECT_EQ(row.result.argmax[0], -1);
  EXPECT_FALSE(row.run(prompt, RowReturn::kArgmax, {{3, 1}, {3, 1}}));
}

TEST(FakeBackend, AForkGoesOnLikeItsOriginAndApartFromIt) {
  for (const bool recurrent : {true, false}) {
    FakeBackend backend({.sizes = {.recurrent = recurrent}});
    FakeRunner runner(backend);
    Tokens left = tokens(600), right = left;
    const plan::SlotId one = runner.state_of(left, 400);
    const plan::SlotId two = *backend.fork_slot(one, 600, 1000);
    EXPECT_EQ(backend.usage().pages, 4u);  // of 3 each, 2 are full
    for (uint32_t step = 0; step < 300; ++step) {
      left.push_back(FakeBackend::next_token(left));
      right.push_back(static_cast<int32_t>(step % 64));
      ASSERT_EQ(runner.run(one, std::span(left).last(1)), FakeBackend::next_token(left));
      ASSERT_EQ(runner.run(two, std::span(right).last(1)), FakeBackend::next_token(right));
    }
    const auto cut = backend.fork_slot(one, 300, 1000);
    EXPECT_EQ(cut.has_value(), !recurrent);
    if (cut) {
      left.resize(300);
      left.push_back(1);
      EXPECT_EQ(runner.run(*cut, std::span(left).last(1)), FakeBackend::next_token(left));
      backend.close_slot(*cut);
    }
    backend.states().check();
    backend.close_slot(one);
    EXPECT_EQ(backend.usage().pages, 4u);
    backend.close_slot(two);
    EXPECT_EQ(backend.usage().bytes, 0u);
  }
}

TEST(FakeBackend, RefusesWrongPackets) {
  FakeBackend backend;
  const plan::SlotId slot = *backend.open_slot(4), other = *backend.open_slot(4);
  const plan::PlanId plan = *backend.prepare({.shape = {2}, .buffers = {}, .ops = {}});
  plan::StepResult result;
  const std::vector<RowReturn> nothing(2, RowReturn::kNothing);
  const auto refused = [&](std::vector<plan::SequenceRows> sequences, Tokens tokens = {1, 2}) {
    return !backend.run(plan, {.tokens = std::move(tokens), .sequences = std::move(sequences), .returns = nothing}, result);
  };
  EXPECT_TRUE(refused({{slot, 0, 2, 1}}));                    // not where the state is
  EXPECT_TRUE(refused({{slot, 0, 1, 0}, {slot, 1, 1, 0}}));   // twice
  EXPECT_TRUE(refused({{slot, 0, 1, 0}}));                    // a row is nobody's
  EXPECT_TRUE(refused({{slot, 0, 1, 0}, {other, 0, 1, 0}}));  // a row is two's
  EXPECT_TRUE(refused({{plan::SlotId{9}, 0, 2, 0}}));         // not open
  EXPECT_TRUE(refused({{slot, 0, 2, 0}}, {1, 64}));           // not in the vocabulary
  EXPECT_TRUE(refused({{slot, 0, 2, 0}}, {1, 2, 3}));         // another plan's
  EXPECT_FALSE(refused({{slot, 0, 1, 0}, {other, 1, 1, 0}}));
  EXPECT_FALSE(refused({{slot, 0, 2, 1}}));
  EXPECT_TRUE(refused({{slot, 0, 2, 3}}));  // no room
  EXPECT_EQ(backend.committed(slot), 3u);
  EXPECT_EQ(backend.steps(), 2u);
}

TEST(FakeBackend, FailsWhenTold) {
  OneRow row({.sizes = {}, .step_ms = [](uint32_t rows) { return 1 + 0.5 * rows; }, .on_run = {}, .nan_token = 63});
  row.backend.fail_next_run();
  EXPECT_FALSE(row.run(tokens(4), RowReturn::kArgmax));
  EXPECT_FALSE(row.backend.fork_slot(plan::SlotId{0}, 0, 4));  // it may only be closed
  EXPECT_EQ(row.backend.clock_ms(), 0);
  ASSERT_TRUE(row.run(tokens(4), RowReturn::kArgmax));
  EXPECT_EQ(row.backend.clock_ms(), 3);

  ASSERT_TRUE(row.run({1, 63}, RowReturn::kArgmax));
  EXPECT_EQ(row.result.argmax[0], -1);
  ASSERT_TRUE(row.run({63, 1}, RowReturn::kArgmax));
  EXPECT_EQ(row.result.argmax[0], FakeBackend::next_token(Tokens{63, 1}));
  ASSERT_TRUE(row.run({1, 63}, RowReturn::kLogits));
  EXPECT_TRUE(std::isnan(row.result.logits[0][5]));

  FakeRunner runner(row.backend);
  const plan::SlotId slot = *row.backend.open_slot(4);
  row.backend.give_nan(slot);
  EXPECT_EQ(runner.run(slot, tokens(2)), -1);
  EXPECT_NONFATAL_FAILURE(row.backend.close_slot(plan::SlotId{99}), "not open");
}

TEST(FakeBackend, RefusesMoreThanItsMemory) {
  FakeBackend backend({.sizes = {.recurrent = true, .own_bytes = 100, .page_bytes = 10, .memory_bytes = 250}});
  ASSERT_TRUE(backend.open_slot(600));  // 130 bytes, all promised
  const auto second = backend.open_slot(600);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kMemory);
  EXPECT_TRUE(backend.open_slot(512));
}

}  // namespace
}  // namespace teapot::engine
