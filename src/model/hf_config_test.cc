#include "model/hf_config.h"

#include <gtest/gtest.h>

#include "model_files.h"

namespace teapot::model {
namespace {

using teapot::testing::expect_fails_naming;

Json dense() {
  return {{"model_type", "qwen3"},    {"hidden_size", 64},        {"vocab_size", 100},       {"num_hidden_layers", 2},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"intermediate_size", 32}, {"head_dim", 16}};
}

Json hybrid() {
  Json config = dense();
  config["model_type"] = "qwen3_5_text";
  return config;
}

Json experts(const char* type) {
  Json config = dense();
  config.update(Json{{"model_type", type}, {"num_experts", 8}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 32}});
  return config;
}

Result<ModelConfig> with(Json config, const Json& changes) {
  config.update(changes);
  return read_hf_config(config, "config.json");
}

TEST(HfConfig, DefaultsOfTheReferenceClass) {
  const auto plain = with(dense(), Json{{"head_dim", nullptr}});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->head_dim, 128u);
  EXPECT_EQ(plain->rotary_dim, 128u);
  EXPECT_EQ(plain->rope_theta, 1e6);
  EXPECT_EQ(plain->rms_norm_eps, 1e-6);
  EXPECT_FALSE(plain->tied);
  EXPECT_FALSE(plain->attention_gate);
  EXPECT_FALSE(plain->max_position.has_value());

  const auto mixed = with(hybrid(), Json{{"head_dim", nullptr}, {"num_hidden_layers", 8}});
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(mixed->head_dim, 256u);
  EXPECT_EQ(mixed->rotary_dim, 64u);
  EXPECT_EQ(mixed->rope_theta, 1e7);
  EXPECT_EQ(mixed->layer_count(Mixer::kAttention), 2u);
  EXPECT_EQ(mixed->layers[3].mixer, Mixer::kAttention);
  EXPECT_EQ(mixed->conv_channels(), 2u * 16 * 128 + 32 * 128);
  EXPECT_EQ(mixed->mrope_section, (std::array<uint32_t, 3>{11, 11, 10}));
}

TEST(HfConfig, FieldsInTextConfig) {
  const auto config =
      read_hf_config(Json{{"model_type", "qwen3_5"}, {"tie_word_embeddings", true}, {"text_config", hybrid()}}, "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->family, Family::kQwen35);
  EXPECT_TRUE(config->tied);
}

TEST(HfConfig, LayersWithAndWithoutExperts) {
  const auto sparse = with(experts("qwen3_moe"), Json{{"num_hidden_layers", 6}, {"decoder_sparse_step", 2}, {"mlp_only_layers", {1}}});
  ASSERT_TRUE(sparse) << sparse.error().message;
  std::vector<Ffn> kinds;
  for (const LayerKind& layer : sparse->layers) kinds.push_back(layer.ffn);
  EXPECT_EQ(kinds, (std::vector<Ffn>{Ffn::kMlp, Ffn::kMlp, Ffn::kMlp, Ffn::kMoe, Ffn::kMlp, Ffn::kMoe}));
  EXPECT_EQ(sparse->intermediate, 32u);
  EXPECT_FALSE(sparse->renormalise);

  // Qwen3.5's class knows neither field: experts everywhere, always renormalised.
  const auto all = with(experts("qwen3_5_moe_text"), Json{{"mlp_only_layers", {0}}, {"decoder_sparse_step", 2}, {"norm_topk_prob", false}});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->layer_count(Ffn::kMoe), 2u);
  EXPECT_TRUE(all->renormalise);
  expect_fails_naming(with(experts("qwen3_next"), Json{{"mlp_only_layers", {2}}}), {"mlp_only_layers", "2"});
}

TEST(HfConfig, BothPlacesOfRope) {
  const auto nested = with(
      hybrid(),
      Json{{"rope_parameters", {{"rope_theta", 5e5}, {"partial_rotary_factor", 0.5}, {"type", "default"}, {"mrope_section", {2, 1, 1}}}}});
  ASSERT_TRUE(nested) << nested.error().message;
  EXPECT_EQ(nested->rope_theta, 5e5);
  EXPECT_EQ(nested->rotary_dim, 8u);
  EXPECT_EQ(nested->mrope_section, (std::array<uint32_t, 3>{2, 1, 1}));
  const auto flat = with(hybrid(), Json{{"rope_theta", 5e5}, {"partial_rotary_factor", 0.5}, {"rope_scaling", nullptr}});
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(flat->rope_theta, nested->rope_theta);
  EXPECT_EQ(flat->rotary_dim, nested->rotary_dim);
  expect_fails_naming(with(hybrid(), Json{{"rope_theta", 1e6}, {"rope_parameters", {{"rope_theta", 1e7}}}}),
                      {"rope_parameters.rope_theta", "10000000", "1000000"});
}

TEST(HfConfig, WhatIsNotSupportedIsNamed) {
  expect_fails_naming(with(dense(), Json{{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}}}), {"rope_scaling.rope_type", "yarn"});
  expect_fails_naming(with(dense(), Json{{"attention_bias", true}}), {"attention_bias"});
  expect_fails_naming(with(dense(), Json{{"use_sliding_window", true}}), {"use_sliding_window"});
  expect_fails_naming(with(dense(), Json{{"layer_types", {"full_attention", "sliding_attention"}}}), {"layer_types", "sliding_attention"});
  expect_fails_naming(with(hybrid(), Json{{"attn_output_gate", false}}), {"attn_output_gate"});
  expect_fails_naming(with(hybrid(), Json{{"output_gate_type", "sigmoid"}}), {"output_gate_type", "sigmoid"});
  expect_fails_naming(with(dense(), Json{{"model_type", "llama"}}), {"model_type", "llama", "qwen3_5_moe"});
}

TEST(HfConfig, WhatContradictsItselfIsNamed) {
  expect_fails_naming(with(hybrid(), Json{{"layer_types", {"full_attention"}}}), {"layer_types", "1", "num_hidden_layers", "2"});
  expect_fails_naming(with(hybrid(), Json{{"linear_num_value_heads", 5}, {"linear_num_key_heads", 2}}),
                      {"linear_num_value_heads", "5", "linear_num_key_heads", "2"});
  expect_fails_naming(with(hybrid(), Json{{"head_dim", 12}, {"partial_rotary_factor", 0.25}}), {"partial_rotary_factor", "head_dim", "12"});
  expect_fails_naming(with(experts("qwen3_moe"), Json{{"num_experts_per_tok", 9}}), {"num_experts_per_tok", "9", "num_experts", "8"});
  expect_fails_naming(read_hf_config(Json{{"tie_word_embeddings", true},
                                          {"text_config",
                                           [] {
                                             Json text = hybrid();
                                             text["tie_word_embeddings"] = false;
                                             return text;
                                           }()}},
                                     "config.json"),
                      {"tie_word_embeddings", "text_config.tie_word_embeddings"});
}

// No size that a file claims may overflow or be allocated.
TEST(HfConfig, EveryFieldIsBounded) {
  for (const char* field : {"hidden_size", "vocab_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
                            "intermediate_size", "max_position_embeddings", "mtp_num_hidden_layers"}) {
    for (const Json& value : {Json(-1), Json(1.5), Json("2"), Json(1ull << 62), Json(true), Json(Json::array()), Json(Json::object())}) {
      expect_fails_naming(with(dense(), Json{{field, value}}), {"config.json", field});
    }
  }
  expect_fails_naming(with(experts("qwen3_moe"), Json{{"num_experts", 4096}, {"moe_intermediate_size", 1 << 20}}),
                      {"num_experts", "moe_intermediate_size"});
}

}  // namespace
}  // namespace teapot::model
