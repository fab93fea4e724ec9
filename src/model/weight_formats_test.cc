#include "model/weight_formats.h"

#include <gtest/gtest.h>

#include "model/model.h"
#include "model/weight_bytes.h"
#include "test_data.h"

namespace teapot::model {
namespace {

using plan::WeightType;

// The demo model: bf16, hidden 256, experts 128 wide, with MTP.
Model demo(const WeightOptions& options) {
  auto model = load_model(testing::demo_model().string(), options);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

struct Types {
  WeightType type, source;
  friend bool operator==(const Types&, const Types&) = default;
};

Types types(const Model& model, plan::MatrixId id) { return {model.weights[id].type, model.weights[id].source_type()}; }

constexpr Types kBF16{WeightType::kBF16, WeightType::kBF16};

std::string switch_of(const Model& model, const std::string& name) {
  for (const plan::SwitchReport& s : model.switches) {
    if (s.name == name) return s.requested + " " + s.active;
  }
  return "none";
}

TEST(WeightFormats, FileChangesNothing) {
  const Model model = demo({});
  for (const plan::Matrix& matrix : model.weights.matrices) EXPECT_FALSE(matrix.source) << matrix.name;
  EXPECT_TRUE(model.notes.empty());
  EXPECT_EQ(switch_of(model, "weights"), "file file");
  EXPECT_EQ(switch_of(model, "head-weights"), "auto file");
}

TEST(WeightFormats, QuantiseByRole) {
  const Model model = demo({.weights = "q8_0"});
  const Types q8{WeightType::kQ8_0, WeightType::kBF16};
  const auto& gdn = std::get<GdnWeights>(model.ids.layers[0].mixer);
  const auto& attention = std::get<AttentionWeights>(model.ids.layers[3].mixer);
  const auto& moe = std::get<MoeWeights>(model.ids.layers[0].ffn);
  for (const plan::MatrixId id : {model.ids.embedding, model.ids.head, gdn.qkv, gdn.z, gdn.out, attention.q, attention.gate, attention.k,
                                  attention.v, attention.o, moe.gate, moe.up, moe.down, moe.shared.down, model.ids.mtp->combine}) {
    EXPECT_EQ(types(model, id), q8) << model.weights[id].name;
  }
  for (const plan::MatrixId id : {gdn.a, gdn.b, moe.router, moe.shared_sigmoid}) {
    EXPECT_EQ(types(model, id).type, types(model, id).source) << model.weights[id].name;
  }
  const auto& mtp = std::get<MoeWeights>(model.ids.mtp->layers[0].ffn);
  EXPECT_EQ(types(model, mtp.up), q8);
  EXPECT_TRUE(model.notes.empty());
  EXPECT_EQ(switch_of(model, "weights"), "q8_0 q8_0");
  EXPECT_EQ(switch_of(model, "head-weights"), "auto q8_0");
  EXPECT_NEAR(static_cast<double>(count_weight_bytes(model).experts) / static_cast<double>(count_weight_bytes(demo({})).experts), 8.5 / 16,
              1e-9);
}

TEST(WeightFormats, TheHeadHasItsOwn) {
  const Types q6{WeightType::kQ6_K, WeightType::kBF16};
  const Model q4 = demo({.weights = "q4_k"});
  EXPECT_EQ(types(q4, q4.ids.head), q6);
  EXPECT_EQ(types(q4, q4.ids.embedding).type, WeightType::kQ4_K);
  EXPECT_EQ(switch_of(q4, "head-weights"), "auto q6_k");
  const Model head = demo({.head_weights = "q6_k"});
  EXPECT_EQ(types(head, head.ids.head), q6);
  EXPECT_EQ(types(head, head.ids.embedding), kBF16);
  const Model wide = demo({.weights = "q4_0", .head_weights = "file"});
  EXPECT_EQ(types(wide, wide.ids.head), kBF16);
  EXPECT_EQ(switch_of(wide, "head-weights"), "file file");
}

TEST(WeightFormats, WhatHasNoWholeBlocksStaysAndIsNamed) {
  const Model model = demo({.weights = "q4_k"});
  const auto& moe = std::get<MoeWeights>(model.ids.layers[0].ffn);
  EXPECT_EQ(types(model, moe.down), kBF16);
  EXPECT_EQ(types(model, moe.up).type, WeightType::kQ4_K);
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_NE(model.notes[0].find("no multiple of 256 elements"), std::string::npos) << model.notes[0];
  EXPECT_NE(model.notes[0].find("down_proj (rows of 128)"), std::string::npos) << model.notes[0];
  EXPECT_EQ(model.switches[0].reason, model.notes[0]);
}

TEST(WeightFormats, RefusesUnknownOnes) {
  const auto weights = load_model(testing::demo_model().string(), {.weights = "q5_k"});
  ASSERT_FALSE(weights);
  EXPECT_EQ(weights.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(weights.error().message.find("--weights: \"q5_k\" is none of file, q8_0"), std::string::npos) << weights.error().message;
  const auto head = load_model(testing::demo_model().string(), {.head_weights = "Q6_K"});
  ASSERT_FALSE(head);
  EXPECT_NE(head.error().message.find("--head-weights: \"Q6_K\" is none of auto, file"), std::string::npos) << head.error().message;
}

TEST(WeightFormats, TakesQuantisedFilesOnlyAsTheyAre) {
  const auto file = testing::shared_data("goldens/dense_r1/model-Q8_0.gguf");
  TEAPOT_NEEDS(file);
  const auto same = load_model(file.string(), {.weights = "q8_0"});
  ASSERT_TRUE(same) << same.error().message;
  for (const plan::Matrix& matrix : same->weights.matrices) EXPECT_EQ(matrix.source_type(), matrix.source ? WeightType::kF32 : matrix.type);
  const auto other = load_model(file.string(), {.weights = "q4_0", .head_weights = "q8_0"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(other.error().message.find("model-Q8_0.gguf: tensor "), std::string::npos) << other.error().message;
  EXPECT_NE(other.error().message.find(" is Q8_0; --weights q4_0 takes F32, F16 and BF16, and what is Q4_0 already"), std::string::npos)
      << other.error().message;
}

TEST(WeightFormats, ATiedHeadIsAHead) {
  const auto folder = testing::shared_data("goldens/qwen3");
  TEAPOT_NEEDS(folder);
  const auto model = load_model(folder.string(), {.weights = "q4_0", .head_weights = "q8_0"});
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->ids.head, model->ids.embedding);
  EXPECT_EQ(model->weights[model->ids.head].type, WeightType::kQ8_0);
  EXPECT_EQ(model->switches[1].reason, "the head is the embedding");
}

}  // namespace
}  // namespace teapot::model
