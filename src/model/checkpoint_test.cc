#include "model/checkpoint.h"

#include <gtest/gtest.h>

#include "model_files.h"
#include "temporary_folder.h"
#include "test_data.h"

namespace teapot::model {
namespace {

using testing::expect_fails_naming;
using testing::safetensors_file;
using testing::TemporaryFolder;
using testing::test_data;

void write(const std::string& path, const std::string& bytes) {
  const Status written = write_file(path, bytes);
  ASSERT_TRUE(written) << written.error().message;
}

// A file with these one-byte tensors.
std::string file_of(const std::vector<std::string>& names) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", i == 0 ? "" : ",", names[i], i, i + 1);
  return safetensors_file(header + "}", std::string(names.size(), 'x'));
}

std::string index_of(const std::string& entries) { return R"({"metadata":{"total_size":3},"weight_map":{)" + entries + "}}"; }

TEST(OpenSafetensors, ReadsOneFile) {
  const auto checkpoint = open_safetensors(test_data("bad/ok").string());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->tensors.size(), 13u);
  const Tensor* tensor = checkpoint->find("model.layers.0.self_attn.q_proj.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->shape, (std::vector<uint64_t>{32, 32}));
  EXPECT_EQ(tensor->type, plan::WeightType::kBF16);
  EXPECT_EQ(checkpoint->find("nothing"), nullptr);
  EXPECT_EQ(checkpoint->gap, "");
}

TEST(OpenSafetensors, ReadsShards) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "part");
  write(folder / "1.safetensors", file_of({"a", "b"}));
  write(folder / "part/2.safetensors", file_of({"c"}));
  write(folder / "model.safetensors.index.json", index_of(R"("a":"1.safetensors","c":"part/2.safetensors","b":"1.safetensors")"));
  const auto checkpoint = open_safetensors(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->tensors.size(), 3u);
  EXPECT_EQ(checkpoint->path_of(*checkpoint->find("c")), folder / "part/2.safetensors");
  EXPECT_EQ(checkpoint->path_of(*checkpoint->find("b")), folder / "1.safetensors");
}

TEST(OpenSafetensors, ChecksTheIndexBothWays) {
  const TemporaryFolder folder;
  const std::string index = folder / "model.safetensors.index.json";
  write(folder / "1.safetensors", file_of({"a", "b"}));
  write(folder / "2.safetensors", file_of({"c"}));
  write(index, index_of(R"("a":"1.safetensors","b":"2.safetensors","c":"2.safetensors")"));
  expect_fails_naming(open_safetensors(folder.path()), {"2.safetensors", "'b'"});
  write(index, index_of(R"("a":"1.safetensors","b":"1.safetensors","c":"1.safetensors")"));
  expect_fails_naming(open_safetensors(folder.path()), {"1.safetensors", "'c'"});
  write(index, index_of(R"("a":"1.safetensors","a":"1.safetensors")"));
  expect_fails_naming(open_safetensors(folder.path()), {index, "'a'", "twice"});
  write(index, index_of(R"("a":"3.safetensors")"));
  expect_fails_naming(open_safetensors(folder.path()), {"3.safetensors", "No such file"});
  write(folder / "2.safetensors", file_of({"a"}));
  write(index, index_of(R"("a":"1.safetensors","b":"1.safetensors","a":"2.safetensors")"));
  expect_fails_naming(open_safetensors(folder.path()), {"'a'", "twice"});
}

TEST(OpenSafetensors, OpensNothingOutsideTheFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "inside");
  write(folder / "1.safetensors", file_of({"a"}));
  for (const std::string shard : {"../1.safetensors", "x/../../1.safetensors", "/etc/passwd", "", "..", "a\\u0000b", "\\n"}) {
    write(folder / "inside/model.safetensors.index.json", index_of("\"a\":\"" + shard + "\""));
    expect_fails_naming(open_safetensors(folder / "inside"), {"outside the model's folder", "'a'"});
  }
}

TEST(OpenSafetensors, RefusesBadIndexes) {
  const TemporaryFolder folder;
  const std::string index = folder / "model.safetensors.index.json";
  for (const std::string text : {"", "[]", "3", "{}", "{\"weight_map\":[]}", "{\"weight_map\":{}}", "{\"weight_map\":3}",
                                 "{\"weight_map\":{\"a\":3}}", "{\"weight_map\":{\"a\":{}}}", "{\"weight_map\":{\"a\":[]}}", "{"}) {
    write(index, text);
    expect_fails_naming(open_safetensors(folder.path()), {index});
  }
  write(index, std::string(50000, '['));
  expect_fails_naming(open_safetensors(folder.path()), {index});
}

TEST(OpenSafetensors, RefusesToChooseBetweenTwoModels) {
  const TemporaryFolder folder;
  write(folder / "1.safetensors", file_of({"a"}));
  write(folder / "model.safetensors", file_of({"a"}));
  write(folder / "model.safetensors.index.json", index_of(R"("a":"1.safetensors")"));
  expect_fails_naming(open_safetensors(folder.path()), {"model.safetensors.index.json", "which"});
}

TEST(OpenSafetensors, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  expect_fails_naming(open_safetensors(folder.path()), {"model.safetensors", "No such file"});
  EXPECT_EQ(open_safetensors(folder.path()).error().kind, ErrorKind::kNotFound);
}

// tests/data/bad: those that are broken as files. What is wrong with a tensor that is sound in itself is found by its user.
struct BadFile {
  const char* name;
  const char* says;
};

class BadSafetensors : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadSafetensors, IsRefusedByName) {
  const auto [name, says] = GetParam();
  const std::string folder = test_data(std::string("bad/") + name).string();
  expect_fails_naming(open_safetensors(folder), {folder, says});
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSafetensors,
    ::testing::Values(BadFile{"st_empty", "no bytes"}, BadFile{"st_short", "5 bytes"}, BadFile{"st_header_truncated", "1320 bytes"},
                      BadFile{"st_header_too_long", "1099511627776"}, BadFile{"st_header_length_max", "18446744073709551615"},
                      BadFile{"st_header_not_json", "not JSON"}, BadFile{"st_header_depth_bomb", "model.safetensors"},
                      BadFile{"st_header_duplicate_key", "twice"}, BadFile{"st_data_truncated", "tensor 'model.norm.weight'"},
                      BadFile{"st_offset_past_end", "q_proj"}, BadFile{"st_offset_inverted", "q_proj"},
                      BadFile{"st_offset_negative", "q_proj"}, BadFile{"st_offset_overlap", "share bytes"},
                      BadFile{"st_size_mismatch", "q_proj"}, BadFile{"st_shape_overflow", "overflows"}, BadFile{"st_dtype_unknown", "'Q7'"},
                      BadFile{"index_missing_shard", "model-00002-of-00002.safetensors"},
                      BadFile{"index_outside", "../ok/model.safetensors"}, BadFile{"index_tensor_elsewhere", "model.norm.weight"}),
    [](const auto& file) { return file.param.name; });

TEST(BadSafetensors, OthersAreSoundAsFiles) {
  for (const std::string name : {"st_dtype_wrong", "st_tensor_extra", "st_tensor_extra_layer", "st_nan_weights", "cfg_shape_mismatch"}) {
    const auto checkpoint = open_safetensors(test_data("bad/" + name).string());
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->gap, "") << name;
  }
  const auto missing = open_safetensors(test_data("bad/st_tensor_missing").string());
  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_NE(missing->gap.find("2048 bytes"), std::string::npos) << missing->gap;
}

}  // namespace
}  // namespace teapot::model
