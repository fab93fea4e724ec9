// GGUF files in the variants that converters write (spec 5.3, 10.6): the same weights, whatever the layout.
#include <gtest/gtest.h>

#include "model/gguf_config.h"
#include "model/gguf_tensors.h"
#include "model/model.h"
#include "model/weights_testing.h"
#include "temporary_folder.h"
#include "tiny_checkpoint.h"

namespace teapot::model {
namespace {

using teapot::testing::GgufFile;
using teapot::testing::TemporaryFolder;
using teapot::testing::TinyTensors;

// Two layers, the second attends, and an MTP layer.
ModelConfig tiny(Family family) {
  ModelConfig config{};
  config.family = family;
  config.hidden = 8;
  config.vocab = 16;
  const Ffn ffn = has_experts(family) ? Ffn::kMoe : Ffn::kMlp;
  config.layers = {{is_hybrid(family) ? Mixer::kGdn : Mixer::kAttention, ffn}, {Mixer::kAttention, ffn}};
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 4;
  config.attention_gate = is_hybrid(family);
  config.key_heads = 2;
  config.value_heads = 4;
  config.dk = config.dv = 2;
  config.conv_kernel = 4;
  config.intermediate = 6;
  config.experts = 3;
  config.top_k = 2;
  config.expert_width = 5;
  config.shared_width = has_experts(family) && is_hybrid(family) ? 5 : 0;
  config.mtp_layers = is_hybrid(family) ? 1 : 0;
  return config;
}

std::string architecture(Family family) {
  const std::map<Family, std::string> names = {{Family::kQwen3, "qwen3"},
                                               {Family::kQwen3Moe, "qwen3moe"},
                                               {Family::kQwen3Next, "qwen3next"},
                                               {Family::kQwen35, "qwen35"},
                                               {Family::kQwen35Moe, "qwen35moe"}};
  return names.at(family);
}

struct KeyOptions {
  bool kv_heads_as_list = false;
  bool recurrent_as_list = false;
};

GgufFile keys(const ModelConfig& c, KeyOptions options = {}) {
  GgufFile file;
  const std::string a = architecture(c.family);
  file.string("general.architecture", a);
  const auto u32 = [&](const std::string& key, uint32_t value) { file.u32(a + "." + key, value); };
  const auto f32 = [&](const std::string& key, float value) { file.key(a + "." + key, 6, teapot::testing::raw(value)); };
  const auto list = [&](const std::string& key, const std::vector<uint32_t>& values) {
    std::string array = teapot::testing::raw(uint32_t{4}) + teapot::testing::raw(uint64_t{values.size()});
    for (const uint32_t value : values) array += teapot::testing::raw(value);
    file.key(a + "." + key, 9, array);
  };
  u32("block_count", static_cast<uint32_t>(c.layers.size()) + c.mtp_layers);
  u32("embedding_length", c.hidden);
  u32("attention.head_count", c.heads);
  u32("attention.key_length", c.head_dim);
  f32("attention.layer_norm_rms_epsilon", 1e-6f);
  f32("rope.freq_base", 1e6f);
  if (options.kv_heads_as_list) {
    list("attention.head_count_kv", {0, c.kv_heads, c.kv_heads});
  } else {
    u32("attention.head_count_kv", c.kv_heads);
  }
  if (is_hybrid(c.family)) {
    u32("rope.dimension_count", 2);
    list("rope.dimension_sections", {1, 1, 0});
    u32("ssm.conv_kernel", c.conv_kernel);
    u32("ssm.state_size", c.dk);
    u32("ssm.group_count", c.key_heads);
    u32("ssm.time_step_rank", c.value_heads);
    u32("ssm.inner_size", c.value_dim());
    u32("nextn_predict_layers", c.mtp_layers);
    if (options.recurrent_as_list) list("attention.recurrent_layers", {1, 0});
    if (!options.kv_heads_as_list && !options.recurrent_as_list) u32("full_attention_interval", 2);
  }
  if (has_experts(c.family)) {
    u32("expert_count", c.experts);
    u32("expert_used_count", c.top_k);
    u32("expert_feed_forward_length", c.expert_width);
    if (c.shared_width > 0) u32("expert_shared_feed_forward_length", c.shared_width);
  } else {
    u32("feed_forward_length", c.intermediate);
  }
  return file;
}

// Every tensor in the layout of llama.cpp's converter.
TinyTensors tensors(const ModelConfig& config) {
  Checkpoint mtp_only;
  mtp_only.tensors.push_back(
      {.name = fmt::format("blk.{}.nextn.eh_proj.weight", config.layers.size()), .type = {}, .type_name = {}, .shape = {}});
  mtp_only.by_name[mtp_only.tensors[0].name] = 0;
  return TinyTensors(all_tensors(gguf_tensors(config, mtp_only)));
}

class GgufModel : public ::testing::Test {
 protected:
  Result<Model> load(GgufFile file, const TinyTensors& content) {
    content.write(file);
    const std::string path = folder_ / fmt::format("{}.gguf", ++files_);
    EXPECT_TRUE(write_file(path, file.bytes()));
    return load_model(path);
  }

  // The variant must load and hold what the plain layout holds.
  void expect_same(const ModelConfig& config, const GgufFile& variant_keys, const TinyTensors& variant) {
    const auto plain = load(keys(config), tensors(config));
    ASSERT_TRUE(plain) << plain.error().message;
    const auto other = load(variant_keys, variant);
    ASSERT_TRUE(other) << other.error().message;
    Twins(*plain, *other).expect_equal();
  }

  TemporaryFolder folder_;
  int files_ = 0;
};

TEST_F(GgufModel, EveryArchitectureLoads) {
  for (const Family family : {Family::kQwen3, Family::kQwen3Moe, Family::kQwen3Next, Family::kQwen35, Family::kQwen35Moe}) {
    const ModelConfig config = tiny(family);
    const auto model = load(keys(config), tensors(config));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->config.family, family);
    EXPECT_EQ(model->ids.mtp.has_value(), is_hybrid(family));
    EXPECT_EQ(model->layout.tiled_value_heads, family == Family::kQwen35 || family == Family::kQwen35Moe);
    EXPECT_TRUE(model->notes.empty());
  }
}

TEST_F(GgufModel, FusedGateUpExperts) {
  const ModelConfig config = tiny(Family::kQwen35Moe);
  TinyTensors variant = tensors(config);
  for (const int block : {0, 1, 2}) {
    const std::string prefix = fmt::format("blk.{}.", block);
    variant.regroup(prefix + "ffn_gate_up_exps.weight",
                    {{prefix + "ffn_gate_exps.weight", 0, config.expert_width}, {prefix + "ffn_up_exps.weight", 0, config.expert_width}},
                    config.experts, {config.experts, 2 * config.expert_width, config.hidden});
  }
  expect_same(config, keys(config), variant);
}

TEST_F(GgufModel, PackedProjectionsOfQwen3Next) {
  const ModelConfig c = tiny(Family::kQwen3Next);
  TinyTensors variant = tensors(c);
  const uint64_t values = c.value_dim() / c.key_heads;
  const std::string qkv = "blk.0.attn_qkv.weight";
  variant.regroup("blk.0.ssm_in.weight",
                  {{qkv, 0, c.dk}, {qkv, c.key_dim(), c.dk}, {qkv, 2 * c.key_dim(), values}, {"blk.0.attn_gate.weight", 0, values}},
                  c.key_heads, {c.conv_channels() + c.value_dim(), c.hidden});
  const uint64_t ratio = c.value_heads / c.key_heads;
  variant.regroup("blk.0.ssm_ba.weight", {{"blk.0.ssm_beta.weight", 0, ratio}, {"blk.0.ssm_alpha.weight", 0, ratio}}, c.key_heads,
                  {2 * c.value_heads, c.hidden});
  expect_same(c, keys(c), variant);
}

TEST_F(GgufModel, OllamaConverter) {
  const ModelConfig config = tiny(Family::kQwen35);
  TinyTensors variant = tensors(config);
  variant.rename("blk.0.ssm_dt.bias", "blk.0.ssm_dt");
  variant.add({"v.blk.0.attn_q.weight", {4, 4}});
  variant.add({"mtp.fc.weight", {8, 16}});
  expect_same(config, keys(config, {.kv_heads_as_list = true}), variant);
  const auto model = load(keys(config, {.kv_heads_as_list = true}), variant);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->skipped.size(), 2u);
  EXPECT_EQ(model->skipped.at("vision").bytes, 64u);
}

TEST_F(GgufModel, RecurrentLayersAsList) {
  const ModelConfig config = tiny(Family::kQwen35);
  expect_same(config, keys(config, {.recurrent_as_list = true}), tensors(config));
}

TEST_F(GgufModel, BlockWithoutEhProjIsNoMtp) {
  const ModelConfig config = tiny(Family::kQwen35);
  TinyTensors variant = tensors(config);
  variant.remove("blk.2.nextn.eh_proj.weight");
  const auto model = load(keys(config), variant);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_FALSE(model->ids.mtp.has_value());
  EXPECT_TRUE(model->skipped.contains("MTP block without nextn.eh_proj"));
  EXPECT_EQ(model->notes.size(), 2u);
}

TEST_F(GgufModel, IncompleteMtpNamesTheTensor) {
  const ModelConfig config = tiny(Family::kQwen35);
  TinyTensors variant = tensors(config);
  variant.remove("blk.2.nextn.hnorm.weight");
  teapot::testing::expect_fails_naming(load(keys(config), variant), {"blk.2.nextn.hnorm.weight", "missing"});
}

TEST_F(GgufModel, MtpHeadOfItsOwn) {
  const ModelConfig config = tiny(Family::kQwen35);
  TinyTensors variant = tensors(config);
  variant.add({"blk.2.nextn.shared_head_head.weight", {config.vocab, config.hidden}});
  const auto model = load(keys(config), variant);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NE(model->ids.mtp->head, model->ids.head);
  TinyTensors reduced = tensors(config);
  reduced.add({"blk.2.nextn.shared_head_head.weight", {config.vocab / 2, config.hidden}});
  const auto skipping = load(keys(config), reduced);
  ASSERT_TRUE(skipping) << skipping.error().message;
  EXPECT_EQ(skipping->ids.mtp->head, skipping->ids.head);
  EXPECT_TRUE(skipping->skipped.contains("MTP head of a reduced vocabulary"));
}

TEST_F(GgufModel, TiedHead) {
  ModelConfig config = tiny(Family::kQwen3);
  config.tied = true;
  const auto model = load(keys(config), tensors(config));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->ids.head, model->ids.embedding);
}

TEST_F(GgufModel, BadKeysAreNamed) {
  const ModelConfig config = tiny(Family::kQwen35Moe);
  const auto with = [&](const auto& change) {
    GgufFile file = keys(config);
    change(file);
    return load(file, tensors(config));
  };
  using teapot::testing::expect_fails_naming;
  expect_fails_naming(with([](GgufFile& f) { f.string("qwen35moe.rope.scaling.type", "yarn"); }), {"rope.scaling.type", "yarn"});
  expect_fails_naming(with([](GgufFile& f) { f.u32("qwen35moe.attention.value_length", 5); }), {"value_length", "5", "key_length", "4"});
  expect_fails_naming(with([](GgufFile& f) { f.u32("tokenizer.ggml.eos_token_id", 16); }), {"eos_token_id", "16"});
  expect_fails_naming(with([](GgufFile& f) { f.u32("qwen35moe.vocab_size", 15); }), {"token_embd.weight", "[16, 8]", "[15, 8]"});
}

}  // namespace
}  // namespace teapot::model
