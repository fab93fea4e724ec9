#include "model/model.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "model/plan_writer.h"
#include "model/weight_bytes.h"
#include "plan/check.h"
#include "test_data.h"

namespace teapot::model {
namespace {

constexpr plan::StepShape kDecode{1};

// Loads, and has a plan that fits it.
void expect_loads(const std::filesystem::path& path) {
  const auto model = load_model(path.string());
  ASSERT_TRUE(model) << model.error().message;
  for (const bool taps : {false, true}) {
    const auto fits = plan::check(write_plan(*model, kDecode, {.taps = taps}), model->weights, model->layout);
    EXPECT_TRUE(fits) << path << ": " << fits.error().message;
  }
}

// Each broken input differs from a sound one in one thing, which the error must name (README there).
TEST(LoadModel, RefusesBrokenInputs) {
  const auto folder = testing::test_data("bad");
  const auto index = read_json_file((folder / "index.json").string());
  ASSERT_TRUE(index) << index.error().message;
  for (const Json& entry : *index) {
    const auto path = folder / entry["path"].get<std::string>();
    if (entry["expect"] != "load must fail") {
      expect_loads(path);
      continue;
    }
    const auto model = load_model(path.string());
    ASSERT_FALSE(model) << entry["path"] << ": " << entry["what"];
    EXPECT_NE(model.error().kind, ErrorKind::kInternal) << model.error().message;
  }
}

struct Naming {
  const char* input;
  std::vector<const char*> named;
};

// What the message must say for inputs that only the architecture can judge.
TEST(LoadModel, ErrorsNameTheCulprit) {
  const Naming cases[] = {
      {"cfg_field_missing", {"config.json", "hidden_size", "missing"}},
      {"cfg_negative", {"config.json", "hidden_size", "-32"}},
      {"cfg_huge_layers", {"num_hidden_layers", "2147483647"}},
      {"cfg_huge_vocab", {"vocab_size", "4611686018427387904"}},
      {"cfg_zero_kv_heads", {"num_key_value_heads", "0"}},
      {"cfg_heads_not_divisible", {"num_attention_heads", "num_key_value_heads", "3", "2"}},
      {"cfg_string_number", {"hidden_size", "\"32\""}},
      {"cfg_fraction", {"num_hidden_layers", "1.5"}},
      {"cfg_odd_head_dim", {"head_dim", "15"}},
      {"cfg_eps_negative", {"rms_norm_eps", "-1"}},
      {"cfg_unknown_model", {"model_type"}},
      {"cfg_activation", {"hidden_act", "gelu"}},
      {"cfg_shape_mismatch", {"gate_proj.weight", "[32, 32]", "[48, 32]"}},
      {"st_dtype_wrong", {"model.norm.weight", "I16"}},
      {"st_tensor_missing", {"q_proj.weight", "missing"}},
      {"st_tensor_extra", {"mlp.surprise.weight", "unexpected"}},
      {"st_tensor_extra_layer", {"model.layers.1."}},
      {"gg_key_missing.gguf", {"block_count"}},
      {"gg_key_type.gguf", {"block_count"}},
      {"gg_key_negative.gguf", {"block_count", "-1"}},
      {"gg_key_huge.gguf", {"block_count", "4294967295"}},
      {"gg_arch.gguf", {"general.architecture"}},
      {"gg_tokens_too_many.gguf", {"265", "264"}},
      {"gg_token_type_short.gguf", {"263", "264"}},
      {"gg_shape.gguf", {"attn_q.weight", "[31, 32]", "[32, 32]"}},
      {"gg_transposed.gguf", {"token_embd.weight", "[32, 264]", "[264, 32]"}},
      {"gg_kquant_row.gguf", {"attn_q.weight"}},
      {"gg_tensor_missing.gguf", {"blk.0.attn_q.weight", "missing"}},
      {"gg_tensor_extra.gguf", {"blk.0.surprise.weight", "unexpected"}},
  };
  for (const Naming& expected : cases) {
    const auto model = load_model((testing::test_data("bad") / expected.input).string());
    ASSERT_FALSE(model) << expected.input;
    for (const char* part : expected.named) {
      EXPECT_NE(model.error().message.find(part), std::string::npos) << expected.input << ": " << model.error().message;
    }
  }
}

TEST(LoadModel, Demo) {
  expect_loads(testing::demo_model());
  const auto model = load_model(testing::demo_model().string());
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->ids.mtp.has_value());
  EXPECT_EQ(model->generation.eos_ids, (std::vector<int32_t>{4065, 4063}));
  EXPECT_EQ(model->generation.top_k, 20u);
  EXPECT_TRUE(model->skipped.empty());
}

TEST(LoadModel, WithoutMtpOnlyWhatMtpAloneNeedsStaysInTheFile) {
  const auto whole = load_model(testing::demo_model().string());
  const auto without = load_model(testing::demo_model().string(), {.mtp = false});
  ASSERT_TRUE(whole && without);
  EXPECT_FALSE(without->ids.mtp.has_value());
  EXPECT_GT(without->skipped.at("mtp is off").bytes, 0u);
  EXPECT_EQ(count_weight_bytes(*without).total() + count_weight_bytes(*whole).mtp, count_weight_bytes(*whole).total());
  EXPECT_TRUE(plan::check(write_plan(*without, kDecode, {}), without->weights, without->layout));
}

TEST(LoadModel, Goldens) {
  const auto folder = testing::shared_data("goldens");
  TEAPOT_NEEDS(folder);
  for (const char* name : {"moe_r2", "dense_r1", "dense_r3", "qwen3", "qwen3_moe", "qwen3_next", "moe_v36"}) {
    expect_loads(folder / name);
    for (const auto& file : std::filesystem::directory_iterator(folder / name)) {
      if (file.path().extension() == ".gguf") expect_loads(file.path());
    }
  }
}

TEST(LoadModel, SaysWhatItSkipped) {
  const auto folder = testing::shared_data("goldens/moe_r2");
  TEAPOT_NEEDS(folder);
  const auto model = load_model(folder.string());
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_TRUE(model->skipped.contains("vision"));
  EXPECT_GT(model->skipped.at("vision").tensors, 0u);
  EXPECT_TRUE(model->ids.mtp.has_value());
}

}  // namespace
}  // namespace teapot::model
