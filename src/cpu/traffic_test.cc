// A step's traffic against sums made by hand over the tiny model.
#include "plan/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cpu/backend.h"
#include "cpu/tiny_mtp_model.h"

namespace teapot::cpu {
namespace {

using plan::TrafficPart;
using M = TinyModel;

class Traffic : public testing::Test {
 protected:
  Traffic() {
    auto created = create_backend({"auto", "f16", "int8", "best", 2, "off"});
    EXPECT_TRUE(created.has_value()) << created.error().message;
    backend_ = *std::move(created);
    EXPECT_TRUE(backend_->load(model_.table, model_.layout, {}));
  }

  // Runs the tokens, one a sequence, in fresh sequences that hold `before` tokens already.
  std::map<TrafficPart, plan::OpTraffic> decode(const std::vector<int32_t>& tokens, uint32_t before = 0,
                                                plan::RowReturn returns = plan::RowReturn::kArgmax) {
    plan::StepPacket packet;
    plan::StepResult result;
    for (size_t s = 0; s < tokens.size(); ++s) {
      const plan::SlotId slot = *backend_->open_slot(before + 1);
      if (before > 0) {
        const plan::StepPacket prompt{std::vector<int32_t>(before, 3), {{slot, 0, before, 0}}, {before, plan::RowReturn::kNothing}};
        EXPECT_TRUE(backend_->run(*backend_->prepare(model_.plan(before)), prompt, result));
      }
      packet.sequences.push_back({slot, static_cast<uint32_t>(s), 1, before});
    }
    packet.tokens = tokens;
    packet.returns.assign(tokens.size(), returns);
    const auto plan = backend_->prepare(model_.plan(static_cast<uint32_t>(tokens.size())));
    EXPECT_TRUE(backend_->run(*plan, packet, result));
    std::vector<plan::OpTraffic> entries;
    backend_->traffic(entries);
    std::map<TrafficPart, plan::OpTraffic> parts;
    for (const plan::OpTraffic& entry : entries) parts[entry.part] += entry;
    return parts;
  }

  uint64_t bytes(plan::MatrixId id) const { return model_.table[id].bytes(); }

  const TinyModel model_{plan::WeightType::kQ8_0};
  std::unique_ptr<plan::Backend> backend_;
};

TEST_F(Traffic, NothingBeforeTheFirstStep) {
  std::vector<plan::OpTraffic> entries(3);
  backend_->traffic(entries);
  EXPECT_TRUE(entries.empty());
}

TEST_F(Traffic, OneTokenReadsItsExpertsAndEverythingElseOnce) {
  auto parts = decode({5});
  EXPECT_EQ(parts[TrafficPart::kGdnProjections].weight_bytes,
            bytes(model_.qkv) + bytes(model_.z) + bytes(model_.b) + bytes(model_.a) + bytes(model_.gdn_out) + M::kHidden * sizeof(float));
  EXPECT_EQ(parts[TrafficPart::kAttentionProjections].weight_bytes, bytes(model_.q) + bytes(model_.q_gate) + bytes(model_.k) +
                                                                        bytes(model_.v) + bytes(model_.attention_out) +
                                                                        M::kHidden * sizeof(float));
  EXPECT_EQ(parts[TrafficPart::kExperts].weight_bytes,
            (bytes(model_.gate) + bytes(model_.up) + bytes(model_.down)) / M::kExperts * M::kTopK);
  EXPECT_EQ(parts[TrafficPart::kExperts].int8_macs, uint64_t{3} * M::kTopK * M::kWidth * M::kHidden);
  EXPECT_EQ(parts[TrafficPart::kRouter].f32_macs, uint64_t{M::kExperts} * M::kHidden);
  EXPECT_EQ(parts[TrafficPart::kHead].int8_macs, uint64_t{M::kVocab} * M::kHidden);
  EXPECT_EQ(parts[TrafficPart::kEmbedding].weight_bytes, row_bytes(plan::WeightType::kQ8_0, M::kHidden));
}

TEST_F(Traffic, EqualTokensShareTheirExpertsButNotTheirState) {
  auto one = decode({5}), two = decode({5, 5});
  EXPECT_EQ(two[TrafficPart::kExperts].weight_bytes, one[TrafficPart::kExperts].weight_bytes);
  EXPECT_EQ(two[TrafficPart::kExperts].int8_macs, 2 * one[TrafficPart::kExperts].int8_macs);
  EXPECT_EQ(two[TrafficPart::kGdn].state_bytes, 2 * one[TrafficPart::kGdn].state_bytes);
  EXPECT_GE(one[TrafficPart::kGdn].state_bytes, uint64_t{2} * M::kValueHeads * M::kDk * M::kDv * sizeof(float));
  EXPECT_EQ(two[TrafficPart::kMlp].weight_bytes, one[TrafficPart::kMlp].weight_bytes);
}

// Rows to verify leave the recurrent state alone and are logged; the accepted ones are read from there, and the state is written then.
TEST(TrafficOfSpeculation, LogsTakeThePlaceOfWrittenStates) {
  TinyModel model(plan::WeightType::kQ8_0);
  model.layout.verify_rows = 4;
  const auto backend = *create_backend({"auto", "f16", "int8", "best", 2, "off"});
  ASSERT_TRUE(backend->load(model.table, model.layout, {}));
  const plan::PlanId plan = *backend->prepare(model.plan(4));
  const plan::SlotId slot = *backend->open_slot(16);
  plan::StepResult result;
  const auto gdn = [&](uint32_t position) {
    EXPECT_TRUE(backend->run(
        plan, {{1, 2, 3, 4}, {{slot, 0, 4, position, plan::StepKind::kVerify}}, std::vector(4, plan::RowReturn::kNothing)}, result));
    std::vector<plan::OpTraffic> entries;
    backend->traffic(entries);
    return *std::ranges::find(entries, TrafficPart::kGdn, &plan::OpTraffic::part);
  };
  constexpr uint64_t kState = uint64_t{M::kValueHeads} * M::kDk * M::kDv, kLogRow = M::kKeyHeads * M::kDk + M::kValueHeads * (M::kDv + 1);
  constexpr uint64_t kWindow = uint64_t{M::kKernel - 1 + 4} * M::kChannels;
  const plan::OpTraffic first = gdn(0);
  EXPECT_EQ(first.state_bytes, (kState + 4 * kLogRow + kWindow) * sizeof(float));
  ASSERT_TRUE(backend->accept(slot, 3));
  const plan::OpTraffic second = gdn(3);
  EXPECT_EQ(second.state_bytes, (2 * kState + (4 + 3) * kLogRow + kWindow) * sizeof(float));
  EXPECT_EQ(second.f32_macs, first.f32_macs + 3 * kState);
}

TEST_F(Traffic, KeysAndValuesAreReadOnceAKvHead) {
  constexpr uint64_t kPositionBytes = uint64_t{2} * M::kKvHeads * M::kHeadDim * 2;
  EXPECT_EQ(decode({5})[TrafficPart::kAttention].kv_bytes, kPositionBytes);
  EXPECT_EQ(decode({5}, 9)[TrafficPart::kAttention].kv_bytes, 10 * kPositionBytes);
}

TEST_F(Traffic, AHeadThatIsAskedNothingReadsNothing) {
  EXPECT_EQ(decode({5}, 0, plan::RowReturn::kNothing)[TrafficPart::kHead].bytes(), 0u);
}

TEST(MtpTraffic, CountsTheLayerAndThePartOfTheHead) {
  const TinyMtpModel model(plan::WeightType::kQ8_0);
  auto backend = *create_backend({"auto", "f16", "int8", "best", 2, "off"});
  ASSERT_TRUE(backend->load(model.table, model.layout, {}));
  const plan::SlotId slot = *backend->open_slot(64);
  const auto run = [&](plan::PlanKind kind, uint32_t rows, uint32_t position, plan::RowReturn returns,
                       std::vector<plan::HeadRows> head_rows = {}) {
    plan::StepPacket packet{std::vector<int32_t>(rows, 3), {{slot, 0, rows, position}}, {rows, returns}};
    packet.head_rows = std::move(head_rows);
    plan::StepResult result;
    EXPECT_TRUE(backend->run(*backend->prepare(model.plan_of({rows, kind})), packet, result));
    std::vector<plan::OpTraffic> entries;
    backend->traffic(entries);
    std::map<TrafficPart, plan::OpTraffic> parts;
    for (const plan::OpTraffic& entry : entries) parts[entry.part] += entry;
    return parts;
  };
  constexpr uint64_t kPositionBytes = uint64_t{2} * M::kKvHeads * M::kHeadDim * 2, kHiddenBytes = M::kHidden * sizeof(float);
  const uint64_t combine = model.table[model.combine].bytes(), token = row_bytes(plan::WeightType::kQ8_0, M::kHidden);

  auto parts = run(plan::PlanKind::kModelMtp, 40, 0, plan::RowReturn::kNothing);
  EXPECT_EQ(parts[TrafficPart::kMtp].weight_bytes, combine + 40 * token + 2 * kHiddenBytes);
  EXPECT_EQ(parts[TrafficPart::kMtp].int8_macs, uint64_t{40} * 2 * M::kHidden * M::kHidden);
  EXPECT_EQ(parts[TrafficPart::kMtp].state_bytes, (1 + plan::kHiddenRows) * kHiddenBytes);
  EXPECT_EQ(parts[TrafficPart::kAttention].kv_bytes, (40 + 39) * kPositionBytes);

  parts = run(plan::PlanKind::kDraft, 1, 40, plan::RowReturn::kDraft, {{16, 32}, {304, 16}});
  EXPECT_EQ(parts[TrafficPart::kMtp].state_bytes, 2 * kHiddenBytes);
  EXPECT_EQ(parts[TrafficPart::kAttention].kv_bytes, 40 * kPositionBytes);
  EXPECT_EQ(parts[TrafficPart::kAttention].f32_macs, uint64_t{2} * 40 * M::kHeads * M::kHeadDim);
  EXPECT_EQ(parts[TrafficPart::kHead].weight_bytes, 48 * token + kHiddenBytes);
  EXPECT_EQ(parts[TrafficPart::kHead].int8_macs, uint64_t{48} * M::kHidden);

  run(plan::PlanKind::kModel, 3, 40, plan::RowReturn::kNothing);
  parts = run(plan::PlanKind::kMtpState, 2, 40, plan::RowReturn::kNothing);
  EXPECT_EQ(parts[TrafficPart::kMtp].state_bytes, 2 * kHiddenBytes);
  EXPECT_EQ(parts[TrafficPart::kAttention].kv_bytes, 2 * kPositionBytes);
}

}  // namespace
}  // namespace teapot::cpu
