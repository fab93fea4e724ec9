// Rows that may not hold (StepKind::kVerify): whatever is accepted of them, a sequence's logits and states are those of decoding its
// tokens one by one.
#include <gtest/gtest.h>
#include <map>

#include "cpu/backend.h"
#include "cpu/every_kernel.h"
#include "cpu/sequence_state.h"
#include "cpu/tiny_model.h"

namespace teapot::cpu {
namespace {

using plan::StepKind;

constexpr uint32_t kTokens = 330, kMaxRows = 9;

std::vector<int32_t> random_tokens() {
  std::mt19937 rng(5);
  std::vector<int32_t> tokens(kTokens);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng() % TinyModel::kVocab);
  return tokens;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// One text, which all sequences of a backend hold a part of; the tokens after the first `good` of a piece are not its.
class Reader {
 public:
  Reader(const TinyModel& model, const Options& options) : model_(model), backend_(*create_backend(options)) {
    const Status loaded = backend_->load(model.table, model.layout, {});
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  }

  plan::Backend& backend() { return *backend_; }

  plan::SlotId open(uint32_t prefix = 0) {
    const plan::SlotId slot = *backend_->open_slot(kTokens);
    if (prefix > 0) {
      EXPECT_TRUE(step({{slot, prefix, prefix, StepKind::kPrefill}}));
    }
    return slot;
  }
  plan::SlotId fork(plan::SlotId slot) { return *backend_->fork_slot(slot, backend_->committed(slot), kTokens); }

  struct Piece {
    plan::SlotId slot;
    uint32_t rows, good;
    StepKind kind;
  };
  Status step(const std::vector<Piece>& pieces) {
    plan::StepPacket packet;
    for (const Piece& piece : pieces) {
      const uint32_t position = backend_->committed(piece.slot);
      packet.sequences.push_back({piece.slot, static_cast<uint32_t>(packet.tokens.size()), piece.rows, position, piece.kind});
      for (uint32_t i = 0; i < piece.rows; ++i) {
        const int32_t token = text_[position + i];
        packet.tokens.push_back(i < piece.good ? token : (token + 7) % static_cast<int32_t>(TinyModel::kVocab));
      }
    }
    packet.returns.assign(packet.tokens.size(), plan::RowReturn::kLogits);
    return backend_->run(plan(static_cast<uint32_t>(packet.tokens.size())), packet, result_);
  }

  std::span<const float> logits(size_t row) const { return result_.logits[row]; }
  plan::StateSnapshot state(plan::SlotId slot) const { return backend_->snapshot(slot, 0); }

 private:
  plan::PlanId plan(uint32_t rows) {
    if (!plans_.contains(rows)) plans_[rows] = *backend_->prepare(model_.plan(rows));
    return plans_[rows];
  }

  const TinyModel& model_;
  const std::unique_ptr<plan::Backend> backend_;
  const std::vector<int32_t> text_ = random_tokens();
  std::map<uint32_t, plan::PlanId> plans_;
  plan::StepResult result_;
};

class Verify : public EveryKernel {
 protected:
  void SetUp() override {
    EveryKernel::SetUp();
    if (IsSkipped()) return;
    model_.layout.verify_rows = kMaxRows;
    // Without speculation, so that nothing of it is compared with itself.
    const TinyModel plain(type());
    Reader reader(plain, options());
    const plan::SlotId slot = reader.open();
    for (uint32_t position = 0; position < kTokens; ++position) {
      states_.push_back(reader.state(slot));
      ASSERT_TRUE(reader.step({{slot, 1, 1, StepKind::kDecode}}));
      logits_.emplace_back(reader.logits(0).begin(), reader.logits(0).end());
    }
    states_.push_back(reader.state(slot));
  }

  Options options(int threads = 2, const char* gdn = "fused") const {
    return {.isa = isa(), .threads = threads, .bind = "off", .gdn = gdn};
  }

  void expect_plain_logits(const Reader& reader, size_t first_row, uint32_t position, uint32_t good) const {
    for (uint32_t i = 0; i < good; ++i) {
      EXPECT_TRUE(same_bits(reader.logits(first_row + i), logits_[position + i])) << "position " << position + i;
    }
  }
  void expect_plain_state(Reader& reader, plan::SlotId slot) const {
    const uint32_t position = reader.backend().committed(slot);
    const plan::StateSnapshot state = reader.state(slot);
    EXPECT_TRUE(same_bits(state.recurrent, states_[position].recurrent)) << "position " << position;
    EXPECT_TRUE(same_bits(state.conv, states_[position].conv)) << "position " << position;
  }
  // One sequence alone; of the rows so many hold.
  void expect_round(Reader& reader, plan::SlotId slot, uint32_t rows, uint32_t accepted) const {
    const uint32_t position = reader.backend().committed(slot);
    const Status ran = reader.step({{slot, rows, accepted, StepKind::kVerify}});
    ASSERT_TRUE(ran.has_value()) << ran.error().message;
    expect_plain_logits(reader, 0, position, accepted);
    expect_plain_state(reader, slot);  // not moved yet
    ASSERT_TRUE(reader.backend().accept(slot, accepted));
    EXPECT_EQ(reader.backend().committed(slot), position + accepted);
    expect_plain_state(reader, slot);
  }

  TinyModel model_{type()};
  std::vector<std::vector<float>> logits_;   // [positions] of decoding one by one
  std::vector<plan::StateSnapshot> states_;  // [positions + 1] before it
};

// Positions 140 to 305: rounds end before, at and behind the end of a page.
TEST_P(Verify, RoundsEqualTokensOneByOne) {
  for (const char* gdn : {"fused", "split"}) {
    for (int threads = 1; threads <= 3; ++threads) {
      Reader reader(model_, options(threads, gdn));
      const plan::SlotId slot = reader.open(140);
      for (uint32_t rows = 1; rows <= kMaxRows; ++rows) {
        for (uint32_t accepted = 1; accepted <= rows; ++accepted) expect_round(reader, slot, rows, accepted);
      }
      EXPECT_EQ(reader.backend().committed(slot), 305u) << gdn << ", " << threads << " threads";
    }
  }
}

TEST_P(Verify, RoundsAroundTheEndOfAPage) {
  Reader reader(model_, options());
  const plan::SlotId walker = reader.open(250);
  for (uint32_t prefix = 250; prefix <= 257; ++prefix) {
    for (const uint32_t accepted : {1u, 3u, 6u, 9u}) {
      const plan::SlotId slot = reader.fork(walker);
      expect_round(reader, slot, kMaxRows, accepted);
      expect_round(reader, slot, 2, 1);
      ASSERT_TRUE(reader.step({{slot, 1, 1, StepKind::kDecode}}));
      expect_plain_logits(reader, 0, prefix + accepted + 1, 1);
      expect_plain_state(reader, slot);
      reader.backend().close_slot(slot);
    }
    ASSERT_TRUE(reader.step({{walker, 1, 1, StepKind::kDecode}}));
  }
}

TEST_P(Verify, PlainStepsTakeInWhatWasAccepted) {
  for (const char* gdn : {"fused", "split"}) {
    Reader reader(model_, options(2, gdn));
    for (const uint32_t rows : {1u, 2u, 64u, 65u, 150u}) {  // 64: one run of the recurrence
      const plan::SlotId slot = reader.open(20);
      for (const uint32_t accepted : {2u, 5u}) {
        expect_round(reader, slot, 5, accepted);
        const uint32_t position = reader.backend().committed(slot);
        ASSERT_TRUE(reader.step({{slot, rows, rows, rows == 1 ? StepKind::kDecode : StepKind::kPrefill}}));
        expect_plain_logits(reader, 0, position, rows);
        expect_plain_state(reader, slot);
      }
      reader.backend().close_slot(slot);
    }
  }
}

// The parent goes on with other guesses, and is gone before the child goes on.
TEST_P(Verify, ForksTakeWhatIsPendingWithThem) {
  Reader reader(model_, options());
  const plan::SlotId parent = reader.open(30);
  expect_round(reader, parent, 6, 4);
  const plan::SlotId child = reader.fork(parent), grandchild = reader.fork(child);
  expect_plain_state(reader, child);
  expect_round(reader, parent, 9, 2);
  reader.backend().close_slot(parent);
  expect_round(reader, child, 7, 3);
  expect_round(reader, child, 3, 3);
  ASSERT_TRUE(reader.step({{grandchild, 40, 40, StepKind::kPrefill}}));
  expect_plain_logits(reader, 0, 34, 40);
  expect_plain_state(reader, grandchild);
}

// A plain step has no log to write, and one to replay only where rows were accepted before it.
TEST_P(Verify, WhatReplayAndLogTakeIsToldApart) {
  for (const char* gdn : {"fused", "split"}) {
    Reader reader(model_, options(2, gdn));
    const plan::SlotId slot = reader.open(20);
    const auto share_after = [&](uint32_t rows, StepKind kind) {
      EXPECT_TRUE(reader.step({{slot, rows, rows, kind}}));
      return reader.backend().shares().replaying;
    };
    EXPECT_EQ(share_after(1, StepKind::kDecode), 0);
    EXPECT_GT(share_after(5, StepKind::kVerify), 0);
    ASSERT_TRUE(reader.backend().accept(slot, 3));
    const double replayed = share_after(1, StepKind::kDecode);
    EXPECT_GT(replayed, 0);
    EXPECT_LT(replayed, 1);
    EXPECT_EQ(share_after(1, StepKind::kDecode), 0);
    EXPECT_EQ(share_after(30, StepKind::kPrefill), 0);
  }
}

// Steps with what each of a few sequences drew: rows that hold or don't, a token, a piece of a prompt; sometimes one is forked and the
// fork goes on in its place.
TEST_P(Verify, KindsInOneStepDoNotTouchEachOther) {
  std::mt19937 rng(3);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
  for (const bool split : {false, true}) {
    for (const int threads : {1, 3}) {
      Reader reader(model_, options(threads, split ? "split" : "fused"));
      std::vector<plan::SlotId> slots;
      for (const uint32_t prefix : {0u, 5u, 120u, 240u}) slots.push_back(reader.open(prefix));
      for (int i = 0; i < 12; ++i) {
        std::vector<Reader::Piece> pieces;
        for (const plan::SlotId slot : slots) {
          const uint32_t rows = 1 + below(kMaxRows);
          switch (below(4)) {
            case 0:
              pieces.push_back({slot, 1, 1, StepKind::kDecode});
              break;
            case 1:
              pieces.push_back({slot, rows, rows, StepKind::kPrefill});
              break;
            default:
              pieces.push_back({slot, rows, 1 + below(rows), StepKind::kVerify});
          }
        }
        std::vector<uint32_t> positions;
        for (const plan::SlotId slot : slots) positions.push_back(reader.backend().committed(slot));
        const Status ran = reader.step(pieces);
        ASSERT_TRUE(ran.has_value()) << ran.error().message;
        size_t row = 0;
        for (size_t s = 0; s < slots.size(); ++s) {
          expect_plain_logits(reader, row, positions[s], pieces[s].good);
          row += pieces[s].rows;
          if (pieces[s].kind == StepKind::kVerify) {
            ASSERT_TRUE(reader.backend().accept(slots[s], pieces[s].good));
          }
          expect_plain_state(reader, slots[s]);
          const bool old = reader.backend().committed(slots[s]) > 300, forked = !old && below(4) == 0;
          if (!old && !forked) continue;
          const plan::SlotId successor = old ? reader.open(10) : reader.fork(slots[s]);
          reader.backend().close_slot(slots[s]);
          slots[s] = successor;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Verify, testing::Combine(all_instruction_sets(), testing::Values(plan::WeightType::kQ4_K)), kernel_name);

// Which head's k a log holds is a matter of the heads' order.
TEST(VerifyHeads, TiledValueHeadsFindTheirKeys) {
  TinyModel model(plan::WeightType::kQ8_0, true);
  model.layout.verify_rows = 4;
  Reader reader(model, {.threads = 2, .bind = "off"});
  const plan::SlotId slot = reader.open(10), plain = reader.open(10);
  ASSERT_TRUE(reader.step({{slot, 4, 3, StepKind::kVerify}}));
  ASSERT_TRUE(reader.backend().accept(slot, 3));
  ASSERT_TRUE(reader.step({{slot, 1, 1, StepKind::kDecode}}));
  ASSERT_TRUE(reader.step({{plain, 4, 4, StepKind::kPrefill}}));
  EXPECT_TRUE(same_bits(reader.state(slot).recurrent, reader.state(plain).recurrent));
}

TEST(VerifyErrors, ASlotWithGuessesCanOnlyBeSettledOrClosed) {
  TinyModel model(plan::WeightType::kQ8_0);
  model.layout.verify_rows = 4;
  Reader reader(model, {.threads = 1, .bind = "off"});
  plan::Backend& backend = reader.backend();
  const auto refuses = [](const auto& result) { return !result && result.error().kind == ErrorKind::kInternal; };
  const plan::SlotId slot = reader.open();
  EXPECT_TRUE(refuses(reader.step({{slot, 5, 5, StepKind::kVerify}})));  // more than states keep
  EXPECT_TRUE(refuses(backend.accept(slot, 1)));
  ASSERT_TRUE(reader.step({{slot, 3, 3, StepKind::kVerify}}));
  EXPECT_EQ(backend.committed(slot), 0u);
  EXPECT_TRUE(refuses(reader.step({{slot, 1, 1, StepKind::kDecode}})));
  EXPECT_TRUE(refuses(reader.step({{slot, 1, 1, StepKind::kVerify}})));
  EXPECT_TRUE(refuses(backend.fork_slot(slot, 0, 9)));
  EXPECT_TRUE(refuses(backend.accept(slot, 0)));
  EXPECT_TRUE(refuses(backend.accept(slot, 4)));
  EXPECT_TRUE(refuses(backend.accept(plan::SlotId{9}, 1)));
  ASSERT_TRUE(backend.accept(slot, 2));
  EXPECT_TRUE(refuses(backend.accept(slot, 1)));  // said already
  ASSERT_TRUE(reader.step({{slot, 3, 3, StepKind::kVerify}}));
  backend.close_slot(slot);
}

TEST(VerifyErrors, RoomCountsGuesses) {
  TinyModel model(plan::WeightType::kQ8_0);
  model.layout.verify_rows = 4;
  Reader reader(model, {.threads = 1, .bind = "off"});
  const plan::SlotId slot = *reader.backend().open_slot(5);
  ASSERT_TRUE(reader.step({{slot, 3, 3, StepKind::kPrefill}}));
  EXPECT_FALSE(reader.step({{slot, 3, 3, StepKind::kVerify}}));
  EXPECT_TRUE(reader.step({{slot, 2, 2, StepKind::kVerify}}));
}

TEST(VerifyErrors, WhatCannotBeExactIsRefusedAtLoad) {
  TinyModel model(plan::WeightType::kQ8_0);
  const auto load = [&](const Options& options) { return (*create_backend(options))->load(model.table, model.layout, {}); };
  model.layout.verify_rows = 2;
  const Status narrow = load({.bind = "off", .state_dtype = "bf16"});
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(narrow.error().message.find("bf16"), std::string::npos);
  model.layout.verify_rows = kMaxVerifyRows + 1;
  const Status many = load({.bind = "off"});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::kUnsupported);
  model.layout.verify_rows = 0;
  EXPECT_TRUE(load({.bind = "off", .state_dtype = "bf16"}));
}

}  // namespace
}  // namespace teapot::cpu
