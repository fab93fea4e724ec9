// The MTP layer: its state beside the model's, drafts from it, and what the head says of them.
#include <gtest/gtest.h>
#include <map>

#include "cpu/backend.h"
#include "cpu/every_kernel.h"
#include "cpu/tiny_mtp_model.h"

namespace teapot::cpu {
namespace {

using plan::PlanKind;
using plan::RowReturn;

std::vector<int32_t> random_tokens(unsigned seed, size_t n) {
  std::mt19937 rng(seed);
  std::vector<int32_t> tokens(n);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng() % TinyModel::kVocab);
  return tokens;
}

struct Guess {
  int32_t id;
  float logit, probability;

  friend bool operator==(const Guess& a, const Guess& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }
  friend void PrintTo(const Guess& g, std::ostream* out) { *out << g.id << " at " << g.logit << ", " << g.probability; }
};
using Guesses = std::vector<Guess>;

struct Runner {
  Runner(const TinyMtpModel& tiny, const Options& options) : model(tiny) {
    auto created = create_backend(options);
    EXPECT_TRUE(created.has_value()) << created.error().message;
    backend = *std::move(created);
    EXPECT_TRUE(backend->load(model.table, model.layout, {}));
  }

  plan::SlotId open(uint32_t tokens = 400) { return backend->open_slot(tokens).value(); }

  Status step(PlanKind kind, plan::StepPacket packet, RowReturn returns) {
    const plan::StepShape shape{static_cast<uint32_t>(packet.tokens.size()), kind};
    if (!plans.contains(shape)) plans[shape] = backend->prepare(model.plan_of(shape)).value();
    packet.returns.assign(packet.tokens.size(), returns);
    return backend->run(plans[shape], packet, result);
  }

  // The rows [begin, end) of a sequence.
  Status rows(PlanKind kind, plan::SlotId slot, const std::vector<int32_t>& tokens, uint32_t begin, uint32_t end) {
    plan::StepPacket packet;
    packet.tokens.assign(tokens.begin() + begin, tokens.begin() + end);
    packet.sequences = {{slot, 0, end - begin, begin}};
    return step(kind, std::move(packet), RowReturn::kNothing);
  }
  void feed(PlanKind kind, plan::SlotId slot, const std::vector<int32_t>& tokens, uint32_t begin, uint32_t end, uint32_t chunk) {
    for (uint32_t at = begin; at < end; at += chunk) {
      const Status status = rows(kind, slot, tokens, at, std::min(at + chunk, end));
      ASSERT_TRUE(status) << status.error().message;
    }
  }
  plan::SlotId fed(const std::vector<int32_t>& tokens, uint32_t chunk = 64) {
    const plan::SlotId slot = open();
    feed(PlanKind::kModelMtp, slot, tokens, 0, static_cast<uint32_t>(tokens.size()), chunk);
    return slot;
  }

  Status draft_step(const std::vector<plan::SlotId>& slots, const std::vector<int32_t>& tokens, uint32_t ahead = 0,
                    RowReturn returns = RowReturn::kDraft, std::vector<plan::HeadRows> head_rows = {}) {
    plan::StepPacket packet;
    packet.tokens = tokens;
    packet.head_rows = std::move(head_rows);
    for (size_t i = 0; i < slots.size(); ++i) {
      packet.sequences.push_back({slots[i], static_cast<uint32_t>(i), 1, backend->committed(slots[i]) + ahead, plan::StepKind::kDraft});
    }
    return step(PlanKind::kDraft, std::move(packet), returns);
  }
  // Chains of guesses after a token of each sequence, all in the same steps: [sequence][guess].
  std::vector<Guesses> drafts(const std::vector<plan::SlotId>& slots, std::vector<int32_t> tokens, uint32_t depth = 4) {
    std::vector<Guesses> all(slots.size());
    for (uint32_t ahead = 0; ahead < depth; ++ahead) {
      const Status status = draft_step(slots, tokens, ahead);
      EXPECT_TRUE(status) << status.error().message;
      if (!status) return all;
      for (size_t i = 0; i < slots.size(); ++i) {
        all[i].push_back({result.argmax[i], result.max[i], result.probability[i]});
        tokens[i] = result.argmax[i];
      }
    }
    return all;
  }
  Guesses drafts(plan::SlotId slot, int32_t token, uint32_t depth = 4) { return drafts(std::vector{slot}, {token}, depth)[0]; }

  const TinyMtpModel& model;
  std::unique_ptr<plan::Backend> backend;
  std::map<plan::StepShape, plan::PlanId> plans;
  plan::StepResult result;
};

double relative_error(std::span<const float> ours, const TinyReference::Row& theirs) {
  EXPECT_EQ(ours.size(), theirs.size());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    difference += (ours[i] - theirs[i]) * (ours[i] - theirs[i]);
    norm += theirs[i] * theirs[i];
  }
  return std::sqrt(difference / norm);
}

class Mtp : public EveryKernel {
 protected:
  Options options(int threads = 1) const { return {.isa = isa(), .pages = "4k", .threads = threads, .bind = "off"}; }
};

TEST_P(Mtp, DraftsEqualTheFormulas) {
  const TinyMtpModel model(type());
  Options exact = options();
  exact.kv_dtype = exact.activations = "f32";
  Runner runner(model, exact);
  const std::vector<int32_t> tokens = random_tokens(1, 40);
  const plan::SlotId slot = runner.fed(tokens, 16);
  TinyMtpReference reference(model);
  TinyReference::Row hidden = reference.run(tokens).hidden.back();
  int32_t token = 7;
  for (uint32_t ahead = 0; ahead < 3; ++ahead) {
    ASSERT_TRUE(runner.draft_step({slot}, {token}, ahead, RowReturn::kLogits));
    const auto expected = reference.draft(hidden, token);
    EXPECT_LT(relative_error(runner.result.logits[0], expected.logits), 1e-5) << ahead;
    hidden = expected.hidden;
    token = runner.result.argmax[0];
  }
}

TEST_P(Mtp, HoweverTheLayerCameThereDraftsAreTheSame) {
  const TinyMtpModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens = random_tokens(2, 270);
  const Guesses expected = runner.drafts(runner.fed(tokens, 270), 5);
  for (const uint32_t chunk : {1u, 7u, 64u}) EXPECT_EQ(runner.drafts(runner.fed(tokens, chunk), 5), expected) << chunk;
  for (const uint32_t behind : {1u, 31u}) {
    for (const uint32_t piece : {1u, 5u, 31u}) {
      const plan::SlotId slot = runner.open();
      runner.feed(PlanKind::kModelMtp, slot, tokens, 0, 270 - 2 * behind, 64);
      for (const uint32_t end : {270 - behind, 270u}) {
        runner.feed(PlanKind::kModel, slot, tokens, end - behind, end, piece);
        EXPECT_EQ(runner.backend->mtp_committed(slot), end - behind);
        runner.feed(PlanKind::kMtpState, slot, tokens, end - behind, end, piece);
        EXPECT_EQ(runner.backend->mtp_committed(slot), end);
      }
      EXPECT_EQ(runner.drafts(slot, 5), expected) << behind << " in pieces of " << piece;
    }
  }
}

TEST_P(Mtp, DraftsLeaveNothingBehind) {
  const TinyMtpModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens = random_tokens(3, 260);
  const plan::SlotId slot = runner.open();
  for (uint32_t at = 0; at < 260; at += 10) {
    runner.feed(PlanKind::kModelMtp, slot, tokens, at, at + 10, 4);
    runner.drafts(slot, 9, 6);
    EXPECT_EQ(runner.backend->committed(slot), at + 10);
    EXPECT_EQ(runner.backend->mtp_committed(slot), at + 10);
  }
  EXPECT_EQ(runner.drafts(slot, 5), runner.drafts(runner.fed(tokens), 5));
}

TEST_P(Mtp, NeighboursAndThreadsChangeNoBit) {
  const TinyMtpModel model(type());
  std::vector<Guesses> expected;
  for (const int threads : {1, 2, 3}) {
    for (const std::string plan_mode : {"static", "eager"}) {
      for (const std::string lmhead : {"argmax", "full"}) {
        Options other = options(threads);
        other.plan = plan_mode;
        other.lmhead = lmhead;
        Runner runner(model, other);
        std::vector<plan::SlotId> slots;
        for (const uint32_t n : {1u, 30u, 257u}) slots.push_back(runner.fed(random_tokens(n, n)));
        if (expected.empty()) {
          for (const plan::SlotId slot : slots) expected.push_back(runner.drafts(slot, 11));
        }
        EXPECT_EQ(runner.drafts(slots, {11, 11, 11}), expected) << threads << " threads, " << plan_mode << ", " << lmhead;
      }
    }
  }
}

TEST_P(Mtp, TheFirstTokenHasNothingToAttendTo) {
  const TinyMtpModel model(type());
  Runner runner(model, options());
  const Guesses first = runner.drafts(runner.open(), 3);
  for (const Guess& guess : first) {
    EXPECT_TRUE(std::isfinite(guess.logit));
    EXPECT_GT(guess.probability, 0);
    EXPECT_LE(guess.probability, 1);
  }
  EXPECT_EQ(runner.drafts(runner.open(), 3), first);
}

TEST_P(Mtp, ForksDraftLikeTheirSource) {
  const TinyMtpModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens = random_tokens(4, 280);
  const plan::SlotId slot = runner.open();
  runner.feed(PlanKind::kModelMtp, slot, tokens, 0, 260, 64);
  runner.feed(PlanKind::kModel, slot, tokens, 260, 270, 5);
  const plan::SlotId behind = runner.backend->fork_slot(slot, 270, 400).value();
  EXPECT_EQ(runner.backend->mtp_committed(behind), 260u);
  runner.feed(PlanKind::kMtpState, slot, tokens, 260, 270, 10);
  const plan::SlotId beside = runner.backend->fork_slot(slot, 270, 400).value();
  EXPECT_EQ(runner.backend->mtp_committed(beside), 270u);
  const Guesses expected = runner.drafts(slot, 5);
  EXPECT_EQ(runner.drafts(beside, 5), expected);
  runner.backend->close_slot(slot);
  runner.feed(PlanKind::kMtpState, behind, tokens, 260, 270, 3);
  EXPECT_EQ(runner.drafts(behind, 5), expected);
  runner.feed(PlanKind::kModelMtp, behind, tokens, 270, 280, 10);
  EXPECT_EQ(runner.drafts(behind, 5), runner.drafts(runner.fed(tokens), 5));
}

// A page is full before the layer has seen it: forks that catch up in one step write to none that another reads.
TEST_P(Mtp, ForksCatchUpTogetherAcrossAPagesEnd) {
  const TinyMtpModel model(type());
  Runner runner(model, options(2));
  const std::vector<int32_t> tokens = random_tokens(8, 262);
  const plan::SlotId slot = runner.open();
  runner.feed(PlanKind::kModelMtp, slot, tokens, 0, 250, 64);
  runner.feed(PlanKind::kModel, slot, tokens, 250, 262, 5);
  const std::vector<plan::SlotId> forks = {runner.backend->fork_slot(slot, 262, 400).value(),
                                           runner.backend->fork_slot(slot, 262, 400).value(), slot};
  plan::StepPacket packet;
  for (const plan::SlotId fork : forks) {
    packet.sequences.push_back({fork, static_cast<uint32_t>(packet.tokens.size()), 12, 250});
    packet.tokens.insert(packet.tokens.end(), tokens.begin() + 250, tokens.end());
  }
  ASSERT_TRUE(runner.step(PlanKind::kMtpState, packet, RowReturn::kNothing));
  EXPECT_EQ(runner.backend->usage().pages, 6u);
  const Guesses expected = runner.drafts(runner.fed(tokens), 5);
  for (const Guesses& guesses : runner.drafts(forks, {5, 5, 5})) EXPECT_EQ(guesses, expected);
}

// One draft, among all ids or some of them, beside the step's raw logits.
TEST_P(Mtp, APartOfTheHeadIsComparedAsTheWhole) {
  const TinyMtpModel model(type());
  const std::vector<int32_t> tokens = random_tokens(5, 20);
  const std::vector<std::vector<plan::HeadRows>> parts = {
      {}, {{0, 320}}, {{0, 16}}, {{304, 16}}, {{16, 32}, {48, 16}, {96, 160}, {304, 16}}, {{0, 48}, {64, 16}, {112, 208}}};
  for (const std::string lmhead : {"argmax", "full"}) {
    for (const int threads : {1, 3}) {
      Options other = options(threads);
      other.lmhead = lmhead;
      Runner runner(model, other);
      const plan::SlotId slot = runner.fed(tokens);
      ASSERT_TRUE(runner.draft_step({slot}, {5}, 0, RowReturn::kLogits));
      const std::vector<float> logits(runner.result.logits[0].begin(), runner.result.logits[0].end());
      for (const auto& part : parts) {
        ASSERT_TRUE(runner.draft_step({slot}, {5}, 0, RowReturn::kDraft, part));
        size_t best = part.empty() ? 0 : part[0].first;
        std::vector<double> compared;
        for (const plan::HeadRows& range : part.empty() ? std::vector<plan::HeadRows>{{0, 320}} : part) {
          for (size_t id = range.first; id < range.first + range.count; ++id) {
            compared.push_back(logits[id]);
            if (logits[id] > logits[best]) best = id;
          }
        }
        double sum = 0;
        for (const double logit : compared) sum += std::exp(logit - logits[best]);
        EXPECT_EQ(runner.result.argmax[0], static_cast<int32_t>(best));
        EXPECT_EQ(runner.result.max[0], logits[best]);
        EXPECT_NEAR(runner.result.probability[0], 1 / sum, 1e-6);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Mtp,
                         testing::Combine(all_instruction_sets(),
                                          testing::Values(plan::WeightType::kF32, plan::WeightType::kQ8_0, plan::WeightType::kQ4_K)),
                         kernel_name);

TEST(MtpErrors, StepsMustFitWhatTheLayerHasSeen) {
  const TinyMtpModel model(plan::WeightType::kF32);
  Runner runner(model, {.isa = "scalar", .pages = "4k", .threads = 1, .bind = "off"});
  const std::vector<int32_t> tokens = random_tokens(6, 60);
  const auto message = [](const Status& status) {
    EXPECT_TRUE(status || status.error().kind == ErrorKind::kInternal);
    return status ? std::string("accepted") : status.error().message;
  };
  const plan::SlotId slot = runner.open(42);
  EXPECT_EQ(message(runner.rows(PlanKind::kModel, slot, tokens, 0, 32)),
            "packet: slot 0 leaves the MTP layer 32 tokens behind, at most 31 are allowed");
  EXPECT_EQ(message(runner.rows(PlanKind::kModel, slot, tokens, 0, 10)), "accepted");
  EXPECT_EQ(message(runner.rows(PlanKind::kModelMtp, slot, tokens, 10, 11)),
            "packet: slot 0 in a model+mtp step, but the MTP layer has seen 0 of 10 tokens");
  EXPECT_EQ(message(runner.draft_step({slot}, {1})), "packet: slot 0 in a draft step, but the MTP layer has seen 0 of 10 tokens");
  EXPECT_EQ(message(runner.rows(PlanKind::kMtpState, slot, tokens, 1, 2)),
            "packet: slot 0 at position 1 of a mtp state step, its state is at 0");
  EXPECT_EQ(message(runner.rows(PlanKind::kMtpState, slot, tokens, 0, 11)),
            "packet: 11 rows of slot 0, whose MTP layer has seen 0 of 10 tokens");
  EXPECT_EQ(message(runner.rows(PlanKind::kMtpState, slot, tokens, 0, 10)), "accepted");
  EXPECT_EQ(message(runner.rows(PlanKind::kDraft, slot, tokens, 10, 12)), "packet: 2 rows of slot 0 in a draft step, expected 1");
  EXPECT_EQ(message(runner.draft_step({slot}, {1}, 1)), "packet: slot 0 at position 11 of a draft step, its state is at 10");
  EXPECT_EQ(message(runner.rows(PlanKind::kModelMtp, slot, tokens, 10, 41)), "accepted");
  EXPECT_EQ(message(runner.draft_step({slot}, {1})), "accepted");
  EXPECT_EQ(message(runner.draft_step({slot}, {1}, 1)), "packet: slot 0 has room for 42 positions, 43 were wanted");
  EXPECT_EQ(message(runner.draft_step({slot}, {1}, 0, RowReturn::kTopK, {{0, 16}})), "packet: top_k is 0; expected 1 to 64");
}

TEST(MtpPages, ThoseThatDraftsTookGoBackWhenASlotIsSealed) {
  const TinyMtpModel model(plan::WeightType::kF32);
  Runner runner(model, {.isa = "auto", .pages = "4k", .threads = 1, .bind = "off"});
  const plan::SlotId slot = runner.fed(random_tokens(7, 255));
  const Guesses expected = runner.drafts(slot, 5);
  EXPECT_EQ(runner.backend->usage().pages, 2u);
  runner.backend->seal_slot(slot);
  EXPECT_EQ(runner.backend->usage().pages, 1u);
  EXPECT_EQ(runner.drafts(runner.backend->fork_slot(slot, 255, 300).value(), 5), expected);
}

}  // namespace
}  // namespace teapot::cpu
