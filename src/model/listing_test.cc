// Names and shapes of real checkpoints, without their weights: what the loader asks for must be exactly what is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/gguf_tensors.h"
#include "model/hf_config.h"
#include "model/hf_tensors.h"
#include "model/weight_builder.h"
#include "model_files.h"
#include "test_data.h"

namespace teapot::model {
namespace {

// "{l}" and "{e}" of an entry stand for its layers and experts.
std::vector<std::string> expand(const std::string& name, const std::string& placeholder, const Json& entry, const char* key) {
  const size_t at = name.find(placeholder);
  if (at == std::string::npos) return {name};
  std::vector<std::string> names;
  const auto add = [&](uint64_t number) { names.push_back(std::string(name).replace(at, placeholder.size(), std::to_string(number))); };
  if (entry.at(key).is_number()) {
    for (uint64_t i = 0; i < entry.at(key).get<uint64_t>(); ++i) add(i);
  } else {
    for (const auto& number : entry.at(key)) add(number.get<uint64_t>());
  }
  return names;
}

// The listing as a checkpoint without data.
Checkpoint read_listing(const std::filesystem::path& path) {
  Checkpoint checkpoint;
  auto file = MappedFile::open(path.string());
  EXPECT_TRUE(file);
  const auto json = read_json_file(path.string());
  EXPECT_TRUE(json);
  std::vector<Tensor> tensors;
  for (const auto& entry : json->at("entries")) {
    for (const std::string& layer : expand(entry.at("name"), "{l}", entry, "layers")) {
      for (const std::string& name : expand(layer, "{e}", entry, "experts")) {
        Tensor tensor{.name = name, .type = {}, .type_name = entry.value("type", "BF16"), .shape = {}};
        if (entry.contains("shape")) tensor.shape = entry.at("shape").get<std::vector<uint64_t>>();
        if (entry.contains("ne")) {
          tensor.shape = entry.at("ne").get<std::vector<uint64_t>>();
          std::ranges::reverse(tensor.shape);
        }
        tensors.push_back(std::move(tensor));
      }
    }
  }
  EXPECT_TRUE(checkpoint.add(*std::move(file), std::move(tensors)));
  return checkpoint;
}

void add_name(Checkpoint& checkpoint, const std::string& name) {
  checkpoint.by_name[name] = checkpoint.tensors.size();
  checkpoint.tensors.push_back({.name = name, .type = {}, .type_name = "BF16", .shape = {}});
}

ModelConfig read_config(const std::filesystem::path& path) {
  const auto json = read_json_file(path.string());
  EXPECT_TRUE(json);
  const auto config = read_hf_config(*json, path.string());
  EXPECT_TRUE(config) << config.error().message;
  return *config;
}

std::vector<TensorSpec> sorted(std::vector<TensorSpec> specs) {
  std::ranges::sort(specs, {}, &TensorSpec::name);
  return specs;
}

std::vector<TensorSpec> specs_of(const Checkpoint& checkpoint, std::string_view prefix) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (tensor.name.starts_with(prefix)) specs.push_back({tensor.name, tensor.shape});
  }
  return sorted(std::move(specs));
}

std::vector<TensorSpec> specs_of(const ModelTensors& expected, std::string_view prefix) {
  std::vector<TensorSpec> specs = all_tensors(expected);
  std::erase_if(specs, [&](const TensorSpec& spec) { return !spec.name.starts_with(prefix); });
  return sorted(std::move(specs));
}

class Listing : public ::testing::Test {
 protected:
  const std::filesystem::path configs_ = teapot::testing::shared_data("configs");
};

TEST_F(Listing, WholeCheckpointsAreExactlyWhatIsAskedFor) {
  TEAPOT_NEEDS(configs_);
  for (const char* name : {"Qwen3-1.7B.json", "prune-25B-REAP.json"}) {
    const Checkpoint checkpoint = read_listing(configs_ / "tensors" / name);
    const ModelConfig config = read_config(configs_ / name);
    const auto expected = hf_tensors(config, checkpoint);
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_FALSE(expected->mtp.has_value());
    EXPECT_EQ(specs_of(*expected, ""), specs_of(checkpoint, "")) << name;
    const auto skipped = check_tensors(checkpoint, *expected, [&](const Tensor& tensor) { return hf_skip_reason(config, tensor); });
    ASSERT_TRUE(skipped) << skipped.error().message;
    EXPECT_TRUE(skipped->empty());
  }
}

TEST_F(Listing, MtpOfQwen36WithFusedExperts) {
  TEAPOT_NEEDS(configs_);
  Checkpoint checkpoint = read_listing(configs_ / "tensors/hf-qwen36-35B-mtp.json");
  add_name(checkpoint, "model.language_model.embed_tokens.weight");
  const auto expected = hf_tensors(read_config(configs_ / "Qwen3.6-35B-A3B.json"), checkpoint);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(specs_of(*expected, "mtp."), specs_of(checkpoint, "mtp."));
}

TEST_F(Listing, GgufMtpBlocks) {
  TEAPOT_NEEDS(configs_);
  const Checkpoint experts = read_listing(configs_ / "tensors/gguf-qwen35moe-mtp-block.json");
  EXPECT_EQ(specs_of(gguf_tensors(read_config(configs_ / "Qwen3.6-35B-A3B.json"), experts), "blk.40."), specs_of(experts, "blk.40."));

  // This file's head of the MTP layer scores 40,960 rows of its own choice: left out, by name.
  const Checkpoint dense = read_listing(configs_ / "tensors/gguf-qwen35-27B-mtp-block.json");
  const ModelConfig config = read_config(configs_ / "Qwen3.5-27B.json");
  const std::string head = "blk.64.nextn.shared_head_head.weight";
  std::vector<TensorSpec> listed = specs_of(dense, "blk.64.");
  std::erase_if(listed, [&](const TensorSpec& spec) { return spec.name == head; });
  EXPECT_EQ(specs_of(gguf_tensors(config, dense), "blk.64."), listed);
  EXPECT_FALSE(gguf_skip_reason(config, dense, *dense.find(head)).empty());
}

TEST_F(Listing, GgufTypesWithoutSupportAreNamed) {
  TEAPOT_NEEDS(configs_);
  const Checkpoint checkpoint = read_listing(configs_ / "tensors/gguf-qwen35-4B-iq2.json");
  const ModelTensors expected = gguf_tensors(read_config(configs_ / "Qwen3.5-4B.json"), checkpoint);
  for (const char* block : {"blk.6.", "blk.23."}) EXPECT_EQ(specs_of(expected, block), specs_of(checkpoint, block));
  for (const Tensor& tensor : checkpoint.tensors) {
    if (!tensor.type_name.starts_with("IQ")) continue;
    teapot::testing::expect_fails_naming(WeightBuilder(checkpoint).rows({tensor.name, tensor.shape}), {tensor.name, tensor.type_name});
  }
}

TEST_F(Listing, MlxIsRefusedByName) {
  TEAPOT_NEEDS(configs_);
  const Checkpoint checkpoint = read_listing(configs_ / "tensors/mlx-qwen35-9B-8bit.json");
  teapot::testing::expect_fails_naming(hf_tensors(read_config(configs_ / "Qwen3.5-9B-MLX-8bit.json"), checkpoint), {"MLX"});
}

}  // namespace
}  // namespace teapot::model
