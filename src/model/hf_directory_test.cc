#include "model/hf_directory.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "model_files.h"
#include "temporary_folder.h"
#include "test_data.h"

namespace teapot::model {
namespace {

using testing::expect_fails_naming;
using testing::TemporaryFolder;

void touch(const std::string& path, const std::string& bytes = "{}") { ASSERT_TRUE(write_file(path, bytes)); }

TEST(FindSource, TellsWhatAPathIs) {
  const TemporaryFolder folder;
  touch(folder / "config.json");
  EXPECT_EQ(find_source(folder.path())->kind, SourceKind::kConfigOnly);
  const auto file = find_source(folder / "config.json");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->kind, SourceKind::kConfigOnly);
  EXPECT_EQ(file->path, folder.path());
  EXPECT_EQ(file->config, folder / "config.json");
  touch(folder / "model.safetensors");
  const auto directory = find_source(folder.path());
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->kind, SourceKind::kHuggingFace);
  EXPECT_EQ(directory->config, folder / "config.json");
  touch(folder / "x.gguf");
  EXPECT_EQ(find_source(folder / "x.gguf")->kind, SourceKind::kGguf);
  touch(folder / "blob", "GGUF\x03");
  EXPECT_EQ(find_source(folder / "blob")->kind, SourceKind::kGguf);
  std::filesystem::remove(folder / "model.safetensors");
  touch(folder / "model.safetensors.index.json");
  EXPECT_EQ(find_source(folder.path())->kind, SourceKind::kHuggingFace);
}

TEST(FindSource, RefusesTheRestWithAHint) {
  const TemporaryFolder folder;
  expect_fails_naming(find_source(folder / "none"), {folder / "none", "no such file"});
  expect_fails_naming(find_source(folder.path()), {folder.path(), "neither a config.json nor a GGUF file"});
  touch(folder / "text", "hello");
  expect_fails_naming(find_source(folder / "text"), {folder / "text", "neither a directory"});
  touch(folder / "a.safetensors");
  expect_fails_naming(find_source(folder / "a.safetensors"), {"name the directory"});
  touch(folder / "b.gguf");
  expect_fails_naming(find_source(folder.path()), {"no config.json", folder / "b.gguf"});
  touch(folder / "config.json");
  expect_fails_naming(find_source(folder.path()), {"a.safetensors", "model.safetensors.index.json"});
  std::filesystem::remove(folder / "a.safetensors");
  expect_fails_naming(find_source(folder.path()), {"b.gguf", "name that file"});
  touch(folder / "pytorch_model.bin");
  expect_fails_naming(find_source(folder.path()), {"pytorch_model.bin", "safetensors"});
}

struct Block {
  const char* config;
  const char* method;
  const char* algorithm;
};

// An unquantised configuration gives an empty one.
Quantization quantization_of(const Json& config, const std::string& directory) {
  const auto found = find_quantization(config, directory);
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->value_or(Quantization{}) : Quantization{};
}

TEST(FindQuantization, NamesMethodAndAlgorithm) {
  for (const auto& [config, method, algorithm] : {
           Block{R"({"quantization_config":{"quant_method":"fp8","fmt":"e4m3","weight_block_size":[128,128]}})", "fp8", "e4m3"},
           Block{R"({"quantization_config":{"quant_method":"awq","bits":4,"group_size":128,"version":"gemm"}})", "awq", "4-bit"},
           Block{R"({"quantization_config":{"quant_method":"gptq","bits":4,"group_size":128,"desc_act":false}})", "gptq", "4-bit"},
           Block{R"({"quantization_config":{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{}}})",
                 "compressed-tensors", "pack-quantized"},
           Block{R"({"compression_config":{"format":"float-quantized","config_groups":{}}})", "compressed-tensors", "float-quantized"},
           Block{R"({"text_config":{"quantization_config":{"quant_algo":"NVFP4","producer":{"name":"modelopt"}}}})", "modelopt", "NVFP4"},
           Block{R"({"quantization_config":{"quant_method":"modelopt","quant_algo":"FP8"}})", "modelopt", "FP8"},
           Block{R"({"quantization":{"group_size":64,"bits":4}})", "mlx", "4-bit"},
           Block{R"({"quantization":{"group_size":64,"bits":8,"mode":"affine"}})", "mlx", "affine"},
           Block{R"({"quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4"}})",
                 "bitsandbytes", "nf4"},
           Block{R"({"quantization_config":{"load_in_8bit":true,"bnb_4bit_quant_type":"fp4"}})", "bitsandbytes", "8-bit"},
           Block{R"({"quantization_config":{"quant_method":"torchao"}})", "torchao", "unknown"},
           Block{R"({"quantization_config":{"something":1}})", "unknown", "unknown"},
       }) {
    const Quantization found = quantization_of(Json::parse(config), "/nonexistent");
    EXPECT_EQ(found.method, method) << config;
    EXPECT_EQ(found.algorithm, algorithm) << config;
  }
}

TEST(FindQuantization, FindsNothingInPlainConfigurations) {
  for (const char* config :
       {"{}", R"({"quantization_config":null})", R"({"quantization_config":{}})", R"({"text_config":{"x":1}})", "[]"}) {
    const auto found = find_quantization(Json::parse(config), "/nonexistent");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found) << config;
  }
  expect_fails_naming(find_quantization(Json::parse(R"({"quantization_config":"fp8"})"), ""), {"quantization_config", "string"});
}

TEST(FindQuantization, ReadsTheFileBesideTheConfiguration) {
  const TemporaryFolder folder;
  const std::string path = folder / "hf_quant_config.json";
  touch(
      path,
      R"({"producer":{"name":"modelopt","version":"0.31"},"quantization":{"quant_algo":"NVFP4","kv_cache_quant_algo":"FP8","group_size":16}})");
  Quantization found = quantization_of(Json::object(), folder.path());
  EXPECT_EQ(found.method, "modelopt");
  EXPECT_EQ(found.algorithm, "NVFP4");
  EXPECT_EQ(found.where, path);
  touch(path, R"({"quantization":{"quant_algo":null,"kv_cache_quant_algo":"FP8"}})");
  found = quantization_of(Json::object(), folder.path());
  EXPECT_EQ(found.algorithm, "FP8 (KV cache)");
  touch(path, "[");
  expect_fails_naming(find_quantization(Json::object(), folder.path()), {path});
}

// data/configs: method and algorithm of every real configuration are those of its index.
TEST(FindQuantization, AgreesWithRealConfigurations) {
  const auto folder = testing::shared_data("configs");
  TEAPOT_NEEDS(folder);
  const auto index = read_json_file((folder / "index.json").string());
  ASSERT_TRUE(index) << index.error().message;
  size_t quantised = 0;
  for (const auto& [name, entry] : index->items()) {
    const auto config = read_json_file((folder / (name + ".json")).string());
    ASSERT_TRUE(config) << config.error().message;
    const Quantization found = quantization_of(*config, folder.string());
    const bool expected = entry.contains("quantization");
    EXPECT_EQ(found.method, expected ? entry["quantization"]["method"].get<std::string>() : "") << name;
    EXPECT_EQ(found.algorithm, expected ? entry["quantization"]["algorithm"].get<std::string>() : "") << name;
    quantised += expected;
  }
  EXPECT_EQ(quantised, 4u);
}

}  // namespace
}  // namespace teapot::model
