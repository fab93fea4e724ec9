#include "cpu/backend.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>

#include "cpu/every_kernel.h"
#include "cpu/tiny_model.h"

namespace teapot::cpu {
namespace {

constexpr size_t kTokens = 100;

std::vector<int32_t> random_tokens(unsigned seed, size_t n = kTokens) {
  std::mt19937 rng(seed);
  std::vector<int32_t> tokens(n);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng() % TinyModel::kVocab);
  return tokens;
}

// A backend with the model loaded, and plans made when a shape is first wanted.
struct Runner {
  Runner(const TinyModel& tiny, const Options& options) : model(tiny) {
    auto created = create_backend(options);
    EXPECT_TRUE(created.has_value()) << created.error().message;
    backend = *std::move(created);
    const Status loaded = backend->load(model.table, model.layout, {});
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  }

  plan::PlanId plan(uint32_t rows, bool taps = false) {
    const auto key = std::pair(rows, taps);
    if (!plans.contains(key)) {
      const auto prepared = backend->prepare(model.plan(rows, taps));
      EXPECT_TRUE(prepared.has_value()) << prepared.error().message;
      plans[key] = *prepared;
    }
    return plans[key];
  }

  plan::SlotId open(uint32_t tokens = kTokens) {
    const auto slot = backend->open_slot(tokens);
    EXPECT_TRUE(slot.has_value()) << slot.error().message;
    return *slot;
  }

  // Runs the next tokens of some sequences in one step and appends their logits.
  struct Piece {
    plan::SlotId slot;
    const std::vector<int32_t>* tokens;
    size_t position, count;
    std::vector<float>* logits;
  };
  void step(const std::vector<Piece>& pieces, bool taps = false) {
    plan::StepPacket packet;
    for (const Piece& piece : pieces) {
      packet.sequences.push_back({piece.slot, static_cast<uint32_t>(packet.tokens.size()), static_cast<uint32_t>(piece.count),
                                  static_cast<uint32_t>(piece.position)});
      packet.tokens.insert(packet.tokens.end(), piece.tokens->begin() + static_cast<ptrdiff_t>(piece.position),
                           piece.tokens->begin() + static_cast<ptrdiff_t>(piece.position + piece.count));
    }
    packet.returns.assign(packet.tokens.size(), plan::RowReturn::kLogits);
    const Status status = backend->run(plan(static_cast<uint32_t>(packet.tokens.size()), taps), packet, result);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    size_t row = 0;
    for (const Piece& piece : pieces) {
      for (size_t i = 0; i < piece.count; ++i, ++row)
        piece.logits->insert(piece.logits->end(), result.logits[row].begin(), result.logits[row].end());
    }
  }

  // Logits of all tokens, run in pieces of `chunk`; and the states afterwards.
  std::vector<float> forward(const std::vector<int32_t>& tokens, size_t chunk) {
    std::vector<float> logits;
    const plan::SlotId slot = open(static_cast<uint32_t>(tokens.size()));
    for (size_t at = 0; at < tokens.size(); at += chunk) step({{slot, &tokens, at, std::min(chunk, tokens.size() - at), &logits}});
    const plan::StateSnapshot state = backend->snapshot(slot, 0);
    logits.insert(logits.end(), state.recurrent.begin(), state.recurrent.end());
    logits.insert(logits.end(), state.conv.begin(), state.conv.end());
    backend->close_slot(slot);
    return logits;
  }

  const TinyModel& model;
  std::unique_ptr<plan::Backend> backend;
  std::map<std::pair<uint32_t, bool>, plan::PlanId> plans;
  plan::StepResult result;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double relative_error(const std::vector<float>& ours, const std::vector<TinyReference::Row>& theirs) {
  double difference = 0, norm = 0;
  size_t i = 0;
  for (const auto& row : theirs) {
    for (const double expected : row) {
      difference += (ours[i] - expected) * (ours[i] - expected);
      norm += expected * expected;
      ++i;
    }
  }
  EXPECT_EQ(i, ours.size());
  return std::sqrt(difference / norm);
}

class Backend : public EveryKernel {
 protected:
  Options options(int threads = 2, const char* activations = "int8", const char* kv = "f16") const {
    return {isa(), kv, activations, "best", threads, "off"};
  }
};

TEST_P(Backend, EachLayerEqualsTheFormulas) {
  for (const bool tiled : {false, true}) {
    const TinyModel model(type(), tiled);
    Runner runner(model, options(2, "f32", "f32"));
    const std::vector<int32_t> tokens = random_tokens(1);
    std::vector<float> logits;
    runner.step({{runner.open(), &tokens, 0, kTokens, &logits}}, true);
    const TinyReference::Result expected = TinyReference(model).run(tokens);
    const std::vector<plan::TapResult>& taps = runner.result.taps;
    ASSERT_EQ(taps.size(), 6u);
    EXPECT_LT(relative_error(taps[0].f32, expected.gdn), 1e-5);
    for (size_t t = 0; t < kTokens; ++t) {
      for (size_t r = 0; r < TinyModel::kTopK; ++r) EXPECT_EQ(taps[1].i32[t * TinyModel::kTopK + r], expected.experts[t][r]);
    }
    EXPECT_LT(relative_error(taps[2].f32, expected.moe), 1e-5);
    EXPECT_LT(relative_error(taps[3].f32, expected.attention), 1e-5);
    EXPECT_LT(relative_error(taps[4].f32, expected.mlp), 1e-5);
    EXPECT_LT(relative_error(taps[5].f32, expected.hidden), 1e-5);
    EXPECT_LT(relative_error(logits, expected.logits), 1e-5);
  }
}

TEST_P(Backend, Int8ActivationsAreNear) {
  const TinyModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens = random_tokens(2, 20);
  std::vector<float> logits;
  runner.step({{runner.open(), &tokens, 0, tokens.size(), &logits}});
  // The median over the rows: one that exchanges an expert may jump.
  const std::vector<TinyReference::Row> expected = TinyReference(model).run(tokens).logits;
  std::vector<double> errors;
  for (size_t row = 0; row < tokens.size(); ++row) {
    const auto begin = logits.begin() + static_cast<ptrdiff_t>(row * TinyModel::kVocab);
    errors.push_back(relative_error({begin, begin + TinyModel::kVocab}, {expected[row]}));
  }
  std::ranges::nth_element(errors, errors.begin() + 10);
  EXPECT_LT(errors[10], 0.05);
}

TEST_P(Backend, AnyChunkingGivesTheSameBits) {
  const TinyModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens = random_tokens(3);
  const std::vector<float> whole = runner.forward(tokens, kTokens);
  for (const size_t chunk : {1u, 2u, 7u, 8u, 9u, 63u, 64u, 65u}) EXPECT_TRUE(same_bits(runner.forward(tokens, chunk), whole)) << chunk;
}

TEST_P(Backend, AnyNumberOfThreadsGivesTheSameBits) {
  const TinyModel model(type());
  const std::vector<int32_t> tokens = random_tokens(4);
  const std::vector<float> alone = Runner(model, options(1)).forward(tokens, 33);
  for (const int threads : {2, 3}) EXPECT_TRUE(same_bits(Runner(model, options(threads)).forward(tokens, 33), alone)) << threads;
}

TEST_P(Backend, SequencesThatShareStepsGetTheBitsOfOnesAlone) {
  const TinyModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens_a = random_tokens(5, 40), tokens_b = random_tokens(6, 31);
  std::vector<float> a, b, alone_a, alone_b;
  const plan::SlotId slot_a = runner.open(), slot_b = runner.open();
  runner.step({{slot_a, &tokens_a, 0, 9, &a}, {slot_b, &tokens_b, 0, 2, &b}});
  runner.step({{slot_b, &tokens_b, 2, 13, &b}, {slot_a, &tokens_a, 9, 15, &a}});
  for (size_t i = 0; i < 16; ++i) runner.step({{slot_a, &tokens_a, 24 + i, 1, &a}, {slot_b, &tokens_b, 15 + i, 1, &b}});
  runner.step({{runner.open(), &tokens_a, 0, tokens_a.size(), &alone_a}});
  runner.step({{runner.open(), &tokens_b, 0, tokens_b.size(), &alone_b}});
  EXPECT_TRUE(same_bits(a, alone_a));
  EXPECT_TRUE(same_bits(b, alone_b));
}

// Steps of 2 to 8 sequences whose order changes from step to step: dots of one to eight tokens, and experts that some of them share.
TEST_P(Backend, AnyMixOfSequencesGivesTheBitsOfEachAlone) {
  constexpr size_t kSequences = 8, kEach = 7;
  const TinyModel model(type());
  Runner runner(model, options());
  std::vector<std::vector<int32_t>> tokens;
  std::vector<std::vector<float>> mixed(kSequences), alone(kSequences);
  std::vector<plan::SlotId> slots;
  for (size_t s = 0; s < kSequences; ++s) {
    tokens.push_back(random_tokens(static_cast<uint32_t>(20 + s), kEach));
    slots.push_back(runner.open());
    runner.step({{runner.open(), &tokens[s], 0, kEach, &alone[s]}});
  }
  for (size_t at = 0; at < kEach; ++at) {
    // Two steps a round, so that each has from 1 to 7 of the eight; the last round has all in one.
    const size_t split = at + 1 == kEach ? kSequences : 1 + at;
    const auto run = [&](size_t begin, size_t end) {
      std::vector<Runner::Piece> pieces;
      for (size_t i = begin; i < end; ++i) {
        const size_t s = (i * 3 + at) % kSequences;
        pieces.push_back({slots[s], &tokens[s], at, 1, &mixed[s]});
      }
      if (!pieces.empty()) runner.step(pieces);
    };
    run(0, split);
    run(split, kSequences);
  }
  for (size_t s = 0; s < kSequences; ++s) EXPECT_TRUE(same_bits(mixed[s], alone[s])) << s;
}

TEST_P(Backend, ArgmaxIsTheLargestLogitWhetherLogitsAreKeptOrNot) {
  const TinyModel model(type());
  Runner runner(model, options());
  const std::vector<int32_t> tokens = random_tokens(7, 5);
  std::vector<float> logits;
  runner.step({{runner.open(), &tokens, 0, 5, &logits}});
  const std::vector<int32_t> kept = runner.result.argmax;
  for (size_t row = 0; row < 5; ++row) {
    const auto begin = logits.begin() + static_cast<ptrdiff_t>(row * TinyModel::kVocab);
    EXPECT_EQ(kept[row], std::max_element(begin, begin + TinyModel::kVocab) - begin);
  }
  using enum plan::RowReturn;
  const plan::StepPacket packet{tokens, {{runner.open(), 0, 5, 0}}, {kNothing, kArgmax, kNothing, kNothing, kArgmax}};
  ASSERT_TRUE(runner.backend->run(runner.plan(5), packet, runner.result));
  EXPECT_EQ(runner.result.rows, (std::vector<uint32_t>{1, 4}));
  EXPECT_EQ(runner.result.argmax, (std::vector<int32_t>{kept[1], kept[4]}));
  EXPECT_TRUE(runner.result.logits[0].empty());
}

INSTANTIATE_TEST_SUITE_P(All, Backend,
                         testing::Combine(all_instruction_sets(),
                                          testing::Values(plan::WeightType::kF32, plan::WeightType::kF16, plan::WeightType::kBF16,
                                                          plan::WeightType::kQ8_0, plan::WeightType::kQ4_0, plan::WeightType::kQ5_1,
                                                          plan::WeightType::kQ4_K, plan::WeightType::kQ5_K, plan::WeightType::kQ6_K,
                                                          plan::WeightType::kIQ4_XS)),
                         kernel_name);

// Chunks as long as a server's, on the best table that there is; every tiled kernel of many tokens takes part.
TEST(LongChunks, GiveTheSameBits) {
  for (const plan::WeightType type : {plan::WeightType::kQ4_K, plan::WeightType::kQ6_K, plan::WeightType::kBF16}) {
    const TinyModel model(type);
    Runner runner(model, {.pages = "4k", .threads = 2, .bind = "off"});
    const std::vector<int32_t> tokens = random_tokens(9, 1030);
    const std::vector<float> whole = runner.forward(tokens, tokens.size());
    for (const size_t chunk : {512u, 1024u}) EXPECT_TRUE(same_bits(runner.forward(tokens, chunk), whole)) << chunk;
  }
}

const Options kPlain = {"scalar", "f32", "f32", "4k", 1, "off"};

TEST(BackendErrors, NanLogitsGiveNoArgmax) {
  TinyModel model(plan::WeightType::kF32);
  model.table.vectors[static_cast<size_t>(model.norm_final)].values[0] = NAN;
  Runner runner(model, kPlain);
  const std::vector<int32_t> tokens = random_tokens(8, 1);
  std::vector<float> logits;
  runner.step({{runner.open(), &tokens, 0, 1, &logits}});
  EXPECT_EQ(runner.result.argmax[0], -1);
}

TEST(BackendErrors, PacketsThatDoNotFitAreRefused) {
  const TinyModel model(plan::WeightType::kF32);
  Runner runner(model, kPlain);
  const plan::PlanId plan = runner.plan(2);
  const plan::SlotId slot = runner.open(3), closed = runner.open(3);
  runner.backend->close_slot(closed);
  const auto message = [&](std::vector<int32_t> tokens, std::vector<plan::SequenceRows> sequences) {
    const std::vector<plan::RowReturn> returns(tokens.size(), plan::RowReturn::kNothing);
    const Status status = runner.backend->run(plan, {std::move(tokens), std::move(sequences), returns}, runner.result);
    return status ? std::string() : status.error().message;
  };
  EXPECT_NE(message({1}, {{slot, 0, 1, 0}}), "");
  EXPECT_NE(message({1, 2}, {{slot, 0, 1, 0}}), "");
  EXPECT_NE(message({1, 2}, {{slot, 0, 1, 0}, {slot, 1, 1, 1}}), "");
  EXPECT_NE(message({1, 2}, {{closed, 0, 2, 0}}), "");
  EXPECT_NE(message({1, 2}, {{slot, 0, 2, 1}}), "");
  EXPECT_NE(message({1, -1}, {{slot, 0, 2, 0}}).find("token -1"), std::string::npos);
  EXPECT_NE(message({320, 1}, {{slot, 0, 2, 0}}).find("token 320"), std::string::npos);
  EXPECT_EQ(message({1, 2}, {{slot, 0, 2, 0}}), "");
  EXPECT_NE(message({1, 2}, {{slot, 0, 2, 2}}).find("room for 3"), std::string::npos);
}

TEST(BackendErrors, AStateThatDoesNotFitNamesBothNumbers) {
  const TinyModel model(plan::WeightType::kF32);
  Runner runner(model, kPlain);
  const auto slot = runner.backend->open_slot(0xffffffffu);
  ASSERT_FALSE(slot.has_value());
  EXPECT_EQ(slot.error().kind, ErrorKind::kMemory);
  EXPECT_NE(slot.error().message.find(fmt::format("{}", runner.backend->state_bytes(0xffffffffu))), std::string::npos);
}

TEST(BackendErrors, UnknownOptionsNameTheKnown) {
  for (const Options& options :
       {Options{.kv_dtype = "f8"}, Options{.activations = "int4"}, Options{.pages = "3m"}, Options{.threads = -1}}) {
    const auto backend = create_backend(options);
    ASSERT_FALSE(backend.has_value());
    EXPECT_EQ(backend.error().kind, ErrorKind::kInvalid);
  }
}

TEST(BackendSwitches, ReportWhatBecameOfThem) {
  const auto report = [](const plan::Backend& backend, const std::string& name) {
    for (const plan::SwitchReport& entry : backend.switches()) {
      if (entry.name == name) return entry;
    }
    return plan::SwitchReport{};
  };
  const TinyModel floats(plan::WeightType::kBF16);
  const Runner plain(floats, {"scalar", "f16", "int8", "4k", 1, "core"});
  EXPECT_EQ(report(*plain.backend, "isa").active, "scalar");
  EXPECT_EQ(report(*plain.backend, "activations").active, "f32");
  EXPECT_NE(report(*plain.backend, "activations").reason, "");
  EXPECT_EQ(report(*plain.backend, "threads").active, "1");
  EXPECT_NE(report(*plain.backend, "bind").reason.find("cpus"), std::string::npos);
}

// A value beyond f16 in the cache is counted, not hidden.
TEST(BackendSwitches, SaturatedCacheValuesAreCounted) {
  TinyModel model(plan::WeightType::kF32);
  for (float& w : model.table.vectors[static_cast<size_t>(model.k_norm)].values) w = 1e6f;
  Runner runner(model, {"scalar", "f16", "f32", "4k", 1, "off"});
  const std::vector<int32_t> tokens = random_tokens(9, 1);
  std::vector<float> logits;
  runner.step({{runner.open(), &tokens, 0, 1, &logits}});
  EXPECT_NE(runner.backend->switches()[1].reason.find("saturated"), std::string::npos);
}

}  // namespace
}  // namespace teapot::cpu
