// Hugging Face directories in the variants that are found in public (spec 2, 10): what loads, what is said, what is refused.
#include <gtest/gtest.h>

#include "model/hf_config.h"
#include "model/hf_tensors.h"
#include "model/model.h"
#include "model/weights_testing.h"
#include "temporary_folder.h"
#include "tiny_checkpoint.h"

namespace teapot::model {
namespace {

using teapot::testing::expect_fails_naming;
using teapot::testing::TemporaryFolder;
using teapot::testing::TinyTensors;

// A Qwen3.5-MoE of two layers with an MTP layer.
Json tiny_config() {
  return {{"model_type", "qwen3_5_moe"},
          {"text_config",
           {{"model_type", "qwen3_5_moe_text"},
            {"hidden_size", 8},
            {"vocab_size", 16},
            {"num_hidden_layers", 2},
            {"full_attention_interval", 2},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 8},
            {"linear_num_key_heads", 2},
            {"linear_num_value_heads", 4},
            {"linear_key_head_dim", 2},
            {"linear_value_head_dim", 3},
            {"num_experts", 3},
            {"num_experts_per_tok", 2},
            {"moe_intermediate_size", 5},
            {"shared_expert_intermediate_size", 6},
            {"mtp_num_hidden_layers", 1},
            {"eos_token_id", 15}}}};
}

class HfModel : public ::testing::Test {
 protected:
  HfModel() : config_(tiny_config()) {}

  // Every tensor, experts fused, under the usual prefix.
  TinyTensors tensors() {
    const auto config = read_hf_config(config_, "config.json");
    EXPECT_TRUE(config) << config.error().message;
    Checkpoint names;
    for (const char* name : {"model.language_model.embed_tokens.weight", "mtp.fc.weight"}) {
      names.by_name[name] = names.tensors.size();
      names.tensors.push_back({.name = name, .type = {}, .type_name = {}, .shape = {}});
    }
    const auto expected = hf_tensors(*config, names);
    EXPECT_TRUE(expected) << expected.error().message;
    return TinyTensors(all_tensors(*expected));
  }

  Result<Model> load(const TinyTensors& content) {
    const std::string path = folder_ / std::to_string(++directories_);
    std::filesystem::create_directory(path);
    EXPECT_TRUE(write_file(path + "/config.json", config_.dump()));
    EXPECT_TRUE(write_file(path + "/model.safetensors", content.safetensors()));
    return load_model(path);
  }

  void expect_same(const TinyTensors& variant) {
    const auto plain = load(tensors());
    ASSERT_TRUE(plain) << plain.error().message;
    const auto other = load(variant);
    ASSERT_TRUE(other) << other.error().message;
    Twins(*plain, *other).expect_equal();
  }

  // Fused experts of a layer, taken apart.
  static void separate(TinyTensors& content, const std::string& mlp) {
    content.remove(mlp + "experts.gate_up_proj");
    content.remove(mlp + "experts.down_proj");
    for (const int e : {0, 1, 2}) {
      for (const char* part : {"gate_proj", "up_proj"}) content.add({fmt::format("{}experts.{}.{}.weight", mlp, e, part), {5, 8}});
      content.add({fmt::format("{}experts.{}.down_proj.weight", mlp, e), {8, 5}});
    }
  }

  Json config_;
  TemporaryFolder folder_;
  int directories_ = 0;
};

TEST_F(HfModel, LoadsWithMtp) {
  const auto model = load(tensors());
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_TRUE(model->ids.mtp.has_value());
  EXPECT_EQ(model->ids.mtp->head, model->ids.head);
  EXPECT_TRUE(model->notes.empty());
  EXPECT_EQ(model->generation.eos_ids, std::vector<int32_t>{15});
}

// Values as written: a running number over 1024.
TEST_F(HfModel, ResolvesConventions) {
  const auto model = load(tensors());
  ASSERT_TRUE(model) << model.error().message;
  const auto& gdn = std::get<GdnWeights>(model->ids.layers[0].mixer);
  const auto value_of = [&](const std::string& name, size_t i) {
    float value = 0;
    std::memcpy(&value, model->checkpoint().find("model.language_model.layers.0." + name)->data + i * sizeof(float), sizeof(float));
    return value;
  };
  const plan::WeightTable& weights = model->weights;
  EXPECT_FLOAT_EQ(weights[model->ids.layers[0].mixer_norm].values[3], 1 + value_of("input_layernorm.weight", 3));
  EXPECT_FLOAT_EQ(weights[gdn.norm].values[2], value_of("linear_attn.norm.weight", 2));
  EXPECT_FLOAT_EQ(weights[gdn.dt_bias].values[2], value_of("linear_attn.dt_bias", 2));
  EXPECT_FLOAT_EQ(weights[gdn.neg_exp_a_log].values[1], -std::exp(value_of("linear_attn.A_log", 1)));
  const size_t channels = model->layout.conv_channels();
  EXPECT_FLOAT_EQ(weights[gdn.conv].values[2 * channels + 5], value_of("linear_attn.conv1d.weight", 5 * 4 + 2));
}

TEST_F(HfModel, QueriesAndGatesAlternateByHead) {
  const auto model = load(tensors());
  ASSERT_TRUE(model) << model.error().message;
  const auto& attention = std::get<AttentionWeights>(model->ids.layers[1].mixer);
  const Tensor& file = *model->checkpoint().find("model.language_model.layers.1.self_attn.q_proj.weight");
  const plan::Matrix whole{file.name, *file.type, 64, 8, {{file.data, 64}}};
  for (uint32_t row = 0; row < 32; ++row) {
    const uint32_t head = row / 8;
    EXPECT_EQ(row_values(model->weights[attention.q], row), row_values(whole, head * 16 + row % 8));
    EXPECT_EQ(row_values(model->weights[attention.gate], row), row_values(whole, head * 16 + 8 + row % 8));
  }
}

TEST_F(HfModel, OneTensorPerExpert) {
  TinyTensors content = tensors();
  separate(content, "model.language_model.layers.0.mlp.");
  separate(content, "mtp.layers.0.mlp.");
  const auto model = load(content);
  ASSERT_TRUE(model) << model.error().message;
  const auto& moe = std::get<MoeWeights>(model->ids.layers[0].ffn);
  const plan::Matrix& down = model->weights[moe.down];
  EXPECT_EQ(down.rows, 24u);
  const Tensor& second = *model->checkpoint().find("model.language_model.layers.0.mlp.experts.1.down_proj.weight");
  const plan::Matrix alone{second.name, *second.type, 8, 5, {{second.data, 8}}};
  EXPECT_EQ(row_values(down, 8 + 3), row_values(alone, 3));
}

TEST_F(HfModel, MissingExpertIsNamed) {
  TinyTensors content = tensors();
  separate(content, "model.language_model.layers.0.mlp.");
  content.remove("model.language_model.layers.0.mlp.experts.2.up_proj.weight");
  expect_fails_naming(load(content), {"layers.0.mlp.experts.2.up_proj.weight", "missing"});
}

TEST_F(HfModel, ExpertsOfDifferentTypesAreRefused) {
  TinyTensors content = tensors();
  separate(content, "model.language_model.layers.0.mlp.");
  content.narrow("model.language_model.layers.0.mlp.experts.1.up_proj.weight");
  expect_fails_naming(load(content), {"experts.1.up_proj.weight is BF16", "experts.0.up_proj.weight is F32"});
}

TEST_F(HfModel, PackedProjections) {
  TinyTensors variant = tensors();
  const std::string gdn = "model.language_model.layers.0.linear_attn.";
  const std::string qkv = gdn + "in_proj_qkv.weight";
  // Two key heads of 2, each with two value heads of 3.
  variant.regroup(gdn + "in_proj_qkvz.weight", {{qkv, 0, 2}, {qkv, 4, 2}, {qkv, 8, 6}, {gdn + "in_proj_z.weight", 0, 6}}, 2, {32, 8});
  variant.regroup(gdn + "in_proj_ba.weight", {{gdn + "in_proj_b.weight", 0, 2}, {gdn + "in_proj_a.weight", 0, 2}}, 2, {8, 8});
  expect_same(variant);
}

TEST_F(HfModel, MtpUnderModelPrefix) {
  TinyTensors variant = tensors();
  const auto config = read_hf_config(config_, "config.json");
  ASSERT_TRUE(config);
  for (const std::string name : {"fc.weight", "pre_fc_norm_embedding.weight", "pre_fc_norm_hidden.weight", "norm.weight"}) {
    variant.rename("mtp." + name, "model.mtp." + name);
  }
  const std::string layer = "mtp.layers.0.";
  for (const std::string name :
       {"input_layernorm.weight", "post_attention_layernorm.weight", "self_attn.q_proj.weight", "self_attn.k_proj.weight",
        "self_attn.v_proj.weight", "self_attn.o_proj.weight", "self_attn.q_norm.weight", "self_attn.k_norm.weight", "mlp.gate.weight",
        "mlp.experts.gate_up_proj", "mlp.experts.down_proj", "mlp.shared_expert.gate_proj.weight", "mlp.shared_expert.up_proj.weight",
        "mlp.shared_expert.down_proj.weight", "mlp.shared_expert_gate.weight"}) {
    variant.rename(layer + name, "model." + layer + name);
  }
  expect_same(variant);
}

TEST_F(HfModel, SomeMtpTensorsAreAnError) {
  TinyTensors content = tensors();
  content.remove("mtp.norm.weight");
  expect_fails_naming(load(content), {"mtp.norm.weight", "missing"});
}

TEST_F(HfModel, SkipsVisionAndComputedFrequencies) {
  TinyTensors content = tensors();
  content.add({"model.visual.patch_embed.proj.weight", {4, 4}});
  content.add({"model.language_model.layers.1.self_attn.rotary_emb.inv_freq", {1}});
  const auto model = load(content);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->skipped.size(), 2u);
  EXPECT_EQ(model->notes.size(), 2u);
}

TEST_F(HfModel, ConfiguredMtpWithoutTensorsIsSaidOnce) {
  config_["text_config"]["model_type"] = "qwen3_5_text";
  config_["text_config"]["intermediate_size"] = 4;
  const auto config = read_hf_config(config_, "config.json");
  ASSERT_TRUE(config) << config.error().message;
  Checkpoint names;
  names.by_name["model.embed_tokens.weight"] = 0;
  names.tensors.push_back({.name = "model.embed_tokens.weight", .type = {}, .type_name = {}, .shape = {}});
  const auto expected = hf_tensors(*config, names);
  ASSERT_TRUE(expected);
  const auto model = load(TinyTensors(all_tensors(*expected)));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_FALSE(model->ids.mtp.has_value());
  ASSERT_EQ(model->notes.size(), 1u);
  EXPECT_NE(model->notes[0].find("MTP"), std::string::npos);
}

TEST_F(HfModel, TiedHeadMayStandTwiceIfEqual) {
  config_["tie_word_embeddings"] = true;
  TinyTensors content = tensors();
  ASSERT_TRUE(load(content));
  content.add({"lm_head.weight", {16, 8}});
  expect_fails_naming(load(content), {"lm_head.weight", "differ"});
}

TEST_F(HfModel, MlxExportIsRefused) {
  TinyTensors content = tensors();
  content.rename("model.language_model.embed_tokens.weight", "language_model.model.embed_tokens.weight");
  expect_fails_naming(load(content), {"MLX", "language_model.model.embed_tokens.weight"});
}

}  // namespace
}  // namespace teapot::model
