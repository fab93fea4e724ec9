// A checkpoint and its GGUF twin in F32 hold the same values in other layouts: bound, they must be the same weights.
#include "model/bind.h"

#include <gtest/gtest.h>

#include "model/model.h"
#include "model/weights_testing.h"
#include "test_data.h"

namespace teapot::model {
namespace {

class BindTwins : public ::testing::TestWithParam<const char*> {};

TEST_P(BindTwins, HoldTheSameWeights) {
  const auto folder = teapot::testing::shared_data(std::string("goldens/") + GetParam());
  TEAPOT_NEEDS(folder);
  const auto hf = load_model(folder.string());
  ASSERT_TRUE(hf) << hf.error().message;
  const auto gguf = load_model((folder / "model-F32.gguf").string());
  ASSERT_TRUE(gguf) << gguf.error().message;
  EXPECT_EQ(hf->config.tied, gguf->config.tied);
  EXPECT_EQ(hf->config.vocab, gguf->config.vocab);
  EXPECT_EQ(hf->config.rotary_dim, gguf->config.rotary_dim);
  EXPECT_EQ(hf->config.rope_theta, gguf->config.rope_theta);
  EXPECT_EQ(hf->generation.eos_ids.size(), gguf->generation.eos_ids.size());
  EXPECT_FALSE(hf->layout.tiled_value_heads);
  EXPECT_EQ(gguf->layout.tiled_value_heads, hf->config.key_heads != hf->config.value_heads);
  Twins(*hf, *gguf).expect_equal();
}

INSTANTIATE_TEST_SUITE_P(Goldens, BindTwins, ::testing::Values("moe_r2", "dense_r1", "dense_r3", "qwen3"));

}  // namespace
}  // namespace teapot::model
