#include "model/inspect.h"

#include <gtest/gtest.h>

#include "model/weight_bytes.h"
#include "test_data.h"

namespace teapot::model {
namespace {

TEST(Inspect, BytesAgreeWithTheFilesAndTheFormulas) {
  const auto model = load_model(testing::demo_model().string());
  ASSERT_TRUE(model) << model.error().message;
  const Json facts = inspect_model(*model);
  uint64_t file_bytes = 0;
  uint64_t elements = 0;
  for (const auto& tensor : facts["tensors"]) {
    file_bytes += tensor["bytes"].get<uint64_t>();
    uint64_t count = 1;
    for (const auto& dim : tensor["shape"]) count *= dim.get<uint64_t>();
    elements += count;
  }
  EXPECT_EQ(elements, facts["params_total"].get<uint64_t>() + facts["params_mtp"].get<uint64_t>());
  // All matrices as in the file; small vectors grow from bf16 to f32.
  const uint64_t loaded = facts["bytes_by_part"]["total"].get<uint64_t>();
  EXPECT_GE(loaded, file_bytes);
  EXPECT_LE(loaded, file_bytes + file_bytes / 500);
  const uint64_t read = facts["bytes_read_per_token"].get<uint64_t>();
  EXPECT_GE(read, facts["bytes_read_per_token_bf16"].get<uint64_t>());
  EXPECT_LE(read, facts["bytes_read_per_token_bf16"].get<uint64_t>() + 2 * (loaded - file_bytes));
  EXPECT_TRUE(facts["mtp"]["present"].get<bool>());
  EXPECT_EQ(facts["layer_kinds"].size(), 4u);
}

TEST(Inspect, SaysWhatSpeculationAddsToAState) {
  const auto model = load_model(testing::demo_model().string());
  ASSERT_TRUE(model) << model.error().message;
  const Json facts = inspect_model(*model);
  const Json& mtp = facts["mtp"];
  const plan::StateLayout& layout = model->layout;
  EXPECT_EQ(mtp["kv_bytes_per_token_f16"].get<uint64_t>(), uint64_t{4} * layout.kv_heads * layout.head_dim);
  EXPECT_EQ(mtp["hidden_bytes_per_sequence"].get<uint64_t>(), uint64_t{33} * model->config.hidden * 4);
  const uint64_t row = layout.key_heads * layout.dk + layout.value_heads * (layout.dv + 1) + layout.conv_channels();
  EXPECT_EQ(mtp["log_bytes_per_row"].get<uint64_t>(), layout.gdn_layers * row * 4);
  EXPECT_EQ(mtp["log_bytes_per_sequence"]["4"].get<uint64_t>(), layout.gdn_layers * 10 * row * 4);
  EXPECT_EQ(mtp["log_bytes_per_sequence"]["8"].get<uint64_t>(), layout.gdn_layers * 18 * row * 4);
  EXPECT_NE(inspect_text(facts).find("speculation per sequence"), std::string::npos) << inspect_text(facts);
}

TEST(Inspect, TextSaysTheSame) {
  const auto model = load_model(testing::test_data("bad/gg_ok.gguf").string());
  ASSERT_TRUE(model) << model.error().message;
  const std::string text = inspect_text(inspect_model(*model));
  for (const char* part : {"qwen3", "Q8_0", "blk.{}.attn_q.weight", "tied", "gguf", "none"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace teapot::model
