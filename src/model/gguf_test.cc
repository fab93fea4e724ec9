#include "model/gguf.h"

#include <cstring>

#include <gtest/gtest.h>

#include "model/gguf_reader.h"
#include "model_files.h"
#include "temporary_folder.h"
#include "test_data.h"

namespace teapot::model {
namespace {

using testing::expect_fails_naming;
using testing::GgufFile;
using testing::raw;
using testing::TemporaryFolder;
using testing::test_data;

constexpr uint32_t kF32 = 0;

Result<GgufPart> parse(const std::string& file) { return parse_gguf(std::as_bytes(std::span(file)), "m.gguf"); }

// Look-ups over a file with these keys.
struct Opened {
  explicit Opened(const GgufFile& file) : bytes(file.bytes()) {
    auto part = parse(bytes);
    EXPECT_TRUE(part) << part.error().message;
    if (!part) return;
    gguf.path = "m.gguf";
    gguf.metadata = std::move(part->metadata);
  }
  std::string bytes;
  Gguf gguf;
};

TEST(Gguf, GivesMetadataOfAllTypes) {
  GgufFile file;
  file.key("u8", 0, raw(uint8_t{200}));
  file.key("i8", 1, raw(int8_t{-3}));
  file.key("u16", 2, raw(uint16_t{60000}));
  file.key("i16", 3, raw(int16_t{-300}));
  file.u32("u32", 4000000000u);
  file.i32("i32", -1);
  file.key("f32", 6, raw(1.5f));
  file.key("bool", 7, raw(uint8_t{1}));
  file.string("string", "text");
  file.key("u64", 10, raw(~uint64_t{0}));
  file.key("i64", 11, raw(int64_t{7}));
  file.key("f64", 12, raw(0.1));
  file.strings("strings", {"a", "", "ccc"});
  file.key("ints", 9, raw(uint32_t{5}) + raw(uint64_t{2}) + raw(int32_t{-1}) + raw(int32_t{8}));
  file.key("bools", 9, raw(uint32_t{7}) + raw(uint64_t{2}) + raw(uint8_t{0}) + raw(uint8_t{1}));
  file.key("floats", 9, raw(uint32_t{6}) + raw(uint64_t{1}) + raw(1.0f));
  const Opened opened(file);
  const Gguf& gguf = opened.gguf;
  EXPECT_EQ(gguf.unsigned_value("u8"), 200u);
  EXPECT_EQ(gguf.number("i8"), -3);
  EXPECT_EQ(gguf.unsigned_value("u16"), 60000u);
  EXPECT_EQ(gguf.number("i16"), -300);
  EXPECT_EQ(gguf.unsigned_value("u32"), 4000000000u);
  EXPECT_EQ(gguf.number("f32"), 1.5);
  EXPECT_EQ(gguf.boolean("bool"), true);
  EXPECT_EQ(gguf.string("string"), "text");
  EXPECT_EQ(gguf.unsigned_value("u64"), ~uint64_t{0});
  EXPECT_EQ(gguf.unsigned_value("i64"), 7u);
  EXPECT_EQ(gguf.number("f64"), 0.1);
  EXPECT_EQ(gguf.strings("strings"), (std::vector<std::string>{"a", "", "ccc"}));
  EXPECT_EQ(gguf.integers("ints"), (std::vector<int64_t>{-1, 8}));
  EXPECT_EQ(gguf.integers("bools"), (std::vector<int64_t>{0, 1}));

  EXPECT_EQ(gguf.unsigned_value("none").error().kind, ErrorKind::kNotFound);
  expect_fails_naming(gguf.unsigned_value("none"), {"m.gguf", "'none'"});
  expect_fails_naming(gguf.unsigned_value("i32"), {"'i32'", "-1"});
  expect_fails_naming(gguf.unsigned_value("f32"), {"'f32'", "f32", "integer"});
  expect_fails_naming(gguf.unsigned_value("bool"), {"'bool'", "integer"});
  expect_fails_naming(gguf.number("string"), {"'string'", "number"});
  expect_fails_naming(gguf.string("strings"), {"'strings'", "array of string"});
  expect_fails_naming(gguf.strings("ints"), {"'ints'", "array of i32"});
  expect_fails_naming(gguf.integers("floats"), {"'floats'", "array of f32"});
  expect_fails_naming(gguf.boolean("u8"), {"'u8'", "bool"});
}

TEST(Gguf, GivesTensorsInTorchOrder) {
  for (const uint32_t version : {2u, 3u}) {
    GgufFile file;
    file.version = version;
    file.tensor("b", {2, 3}, kF32, std::string(24, 'b'));
    file.tensor("a", {32, 1, 2}, 8, std::string(68, 'a'));
    const std::string bytes = file.bytes();
    const auto part = parse(bytes);
    ASSERT_TRUE(part) << part.error().message;
    ASSERT_EQ(part->tensors.size(), 2u);
    EXPECT_EQ(part->tensors[0].name, "b");
    EXPECT_EQ(part->tensors[0].shape, (std::vector<uint64_t>{3, 2}));
    EXPECT_EQ(part->tensors[1].shape, (std::vector<uint64_t>{2, 1, 32}));
    EXPECT_EQ(part->tensors[1].type, plan::WeightType::kQ8_0);
    EXPECT_EQ(part->tensors[1].bytes, 68u);
    EXPECT_EQ(0, std::memcmp(part->tensors[1].data, "aaaa", 4));
    EXPECT_EQ(part->gap, "");
  }
}

TEST(Gguf, ListsTypesThatNoWeightHas) {
  GgufFile file;
  file.tensor("w", {256}, 16, std::string(66, 'x'));
  const std::string bytes = file.bytes();
  const auto part = parse(bytes);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_FALSE(part->tensors[0].type);
  EXPECT_EQ(part->tensors[0].type_name, "IQ2_XXS");
}

TEST(Gguf, HonoursTheAlignmentKey) {
  GgufFile file;
  file.alignment = 256;
  file.u32("general.alignment", 256);
  file.tensor("a", {1}, kF32, "aaaa");
  file.tensor("b", {1}, kF32, "bbbb");
  const auto part = parse(file.bytes());
  ASSERT_TRUE(part) << part.error().message;
  for (const uint32_t alignment : {0u, 3u, 48u}) {
    GgufFile bad;
    bad.u32("general.alignment", alignment);
    expect_fails_naming(parse(bad.bytes()), {"general.alignment", std::to_string(alignment)});
  }
  GgufFile text;
  text.string("general.alignment", "32");
  expect_fails_naming(parse(text.bytes()), {"general.alignment", "string"});
}

TEST(Gguf, RefusesBadValues) {
  const auto with_key = [](uint32_t type, const std::string& value) {
    GgufFile file;
    file.key("k", type, value);
    file.string("behind", "so that the file does not end at the value");
    return parse(file.bytes());
  };
  expect_fails_naming(with_key(13, ""), {"m.gguf", "'k'", "13"});
  expect_fails_naming(with_key(7, raw(uint8_t{2})), {"'k'", "boolean"});
  expect_fails_naming(with_key(8, raw(~uint64_t{7})), {"'k'", "18446744073709551608"});
  expect_fails_naming(with_key(9, raw(uint32_t{8}) + raw(uint64_t{1} << 61)), {"'k'", "2305843009213693952"});
  expect_fails_naming(with_key(9, raw(uint32_t{10}) + raw(~uint64_t{0} / 8 + 2)), {"'k'"});
  expect_fails_naming(with_key(9, raw(uint32_t{7}) + raw(uint64_t{1}) + raw(uint8_t{9})), {"'k'", "boolean"});
  expect_fails_naming(with_key(9, raw(uint32_t{9}) + raw(uint64_t{1}) + raw(uint32_t{0}) + raw(uint64_t{0})), {"'k'", "arrays of arrays"});
  expect_fails_naming(with_key(9, raw(uint32_t{8}) + raw(uint64_t{2}) + GgufFile::text("a") + raw(uint64_t{5000}) + "abc"), {"'k'"});
  GgufFile twice;
  twice.u32("k", 1);
  twice.string("k", "1");
  expect_fails_naming(parse(twice.bytes()), {"'k'", "twice"});
  GgufFile control;
  control.u32("k\n", 1);
  expect_fails_naming(parse(control.bytes()), {"m.gguf", "control"});
}

TEST(Gguf, RefusesBadTensors) {
  const auto with_tensor = [](const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset) {
    GgufFile file;
    file.tensor("w", dims, type, offset);
    file.data = std::string(1024, 'x');
    return parse(file.bytes());
  };
  EXPECT_TRUE(with_tensor({16, 16}, kF32, 0));
  expect_fails_naming(with_tensor({}, kF32, 0), {"'w'", "0 dimensions"});
  expect_fails_naming(with_tensor({1, 1, 1, 1, 1}, kF32, 0), {"'w'", "5 dimensions"});
  expect_fails_naming(with_tensor({4, 0}, kF32, 0), {"'w'", "dimension of 0"});
  expect_fails_naming(with_tensor({uint64_t{1} << 32, uint64_t{1} << 32}, kF32, 0), {"'w'", "overflows"});
  expect_fails_naming(with_tensor({uint64_t{1} << 62}, kF32, 0), {"'w'", "overflows"});
  expect_fails_naming(with_tensor({16, 17}, kF32, 0), {"'w'", "only 1024 bytes"});
  expect_fails_naming(with_tensor({1}, kF32, 1024), {"'w'", "1024"});
  expect_fails_naming(with_tensor({1}, kF32, ~uint64_t{31}), {"'w'", "offset"});
  expect_fails_naming(with_tensor({1}, kF32, 4), {"'w'", "alignment"});
  expect_fails_naming(with_tensor({32}, 999, 0), {"'w'", "999"});
  expect_fails_naming(with_tensor({32}, 4, 0), {"'w'", "4 (Q4_2)", "dropped"});
  expect_fails_naming(with_tensor({32}, 12, 0), {"'w'", "Q4_K", "blocks of 256"});
  const auto broken_rows = with_tensor({32, 8}, 12, 0);
  ASSERT_TRUE(broken_rows) << broken_rows.error().message;
  EXPECT_FALSE(broken_rows->tensors[0].type);
  EXPECT_EQ(broken_rows->tensors[0].type_name, "Q4_K (rows of 32 are no whole blocks of 256)");
  GgufFile overlap;
  overlap.tensor("a", {16}, kF32, uint64_t{0});
  overlap.tensor("b", {1}, kF32, uint64_t{32});
  overlap.data = std::string(64, 'x');
  expect_fails_naming(parse(overlap.bytes()), {"'a'", "'b'", "share bytes"});
  GgufFile twice;
  twice.tensor("a", {1}, kF32, "xxxx");
  twice.tensor("a", {1}, kF32, "xxxx");
  expect_fails_naming(parse(twice.bytes()), {"'a'", "twice"});
  GgufFile gap;
  gap.tensor("a", {1}, kF32, uint64_t{0});
  gap.tensor("b", {1}, kF32, uint64_t{64});
  gap.data = std::string(68, 'x');
  const auto part = parse(gap.bytes());
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_NE(part->gap.find("32 bytes of data before tensor 'b'"), std::string::npos) << part->gap;
}

TEST(Gguf, RefusesOtherVersions) {
  for (const uint32_t version : {0u, 1u, 4u, 0x03000000u}) {
    GgufFile file;
    file.version = version;
    const auto part = parse(file.bytes());
    ASSERT_FALSE(part);
    EXPECT_EQ(part.error().kind, ErrorKind::kUnsupported);
  }
}

// Wherever a file is cut, the reader says so.
TEST(Gguf, RefusesEveryTruncation) {
  GgufFile file;
  file.u32("number", 7);
  file.strings("strings", {"one", "two"});
  file.tensor("w", {8}, kF32, std::string(32, 'x'));
  const std::string whole = file.bytes();
  ASSERT_TRUE(parse(whole));
  for (size_t length = 0; length < whole.size(); ++length) expect_fails_naming(parse(whole.substr(0, length)), {"m.gguf"});
}

// As many tokens, merges and tensors as real files have; nothing in the reader may be quadratic.
TEST(Gguf, ReadsLargeMetadata) {
  constexpr int kTokens = 250000;
  std::vector<std::string> tokens;
  tokens.reserve(kTokens);
  for (int i = 0; i < kTokens; ++i) tokens.push_back("token " + std::to_string(i));
  GgufFile file;
  file.strings("tokens", tokens);
  file.strings("merges", tokens);
  for (int i = 0; i < 22000; ++i) file.tensor("blk." + std::to_string(i), {1}, kF32, "xxxx");
  const Opened opened(file);
  EXPECT_EQ(opened.gguf.strings("tokens"), tokens);
}

class BadGguf : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

// tests/data/bad: those that are broken as files.
TEST_P(BadGguf, IsRefusedByName) {
  const auto [name, says] = GetParam();
  const std::string path = test_data(std::string("bad/") + name + ".gguf").string();
  expect_fails_naming(open_gguf(path), {path, says});
}

INSTANTIATE_TEST_SUITE_P(
    All, BadGguf,
    ::testing::Values(std::pair("gg_empty", "no bytes"), std::pair("gg_magic", "not a GGUF file"), std::pair("gg_version", "version 99"),
                      std::pair("gg_kv_truncated", "276 bytes"), std::pair("gg_data_truncated", "tensor '"),
                      std::pair("gg_kv_count", "1152921504606846976 keys"), std::pair("gg_tensor_count", "1152921504606846976 tensors"),
                      std::pair("gg_string_length", "18446744073709551608"), std::pair("gg_array_length", "2305843009213693952"),
                      std::pair("gg_array_nested", "arrays of arrays"), std::pair("gg_value_type", "77"),
                      std::pair("gg_alignment_zero", "general.alignment"), std::pair("gg_offset_past_end", "blk.0.attn_q.weight"),
                      std::pair("gg_offset_overflow", "blk.0.attn_q.weight"), std::pair("gg_offset_misaligned", "blk.0.attn_q.weight"),
                      std::pair("gg_offset_overlap", "blk.0.attn_q.weight"), std::pair("gg_dims_none", "blk.0.attn_q.weight"),
                      std::pair("gg_dims_nine", "blk.0.attn_q.weight"), std::pair("gg_dims_zero", "blk.0.attn_q.weight"),
                      std::pair("gg_dims_overflow", "blk.0.attn_q.weight"), std::pair("gg_type_unknown", "999"),
                      std::pair("gg_type_removed", "blk.0.attn_q.weight"), std::pair("gg_tensor_twice", "blk.0.attn_q.weight")),
    [](const auto& file) { return std::string(file.param.first); });

TEST(BadGguf, OthersAreSoundAsFiles) {
  for (const std::string name : {"ok", "key_missing", "key_type", "key_negative", "key_huge", "arch", "tokens_too_many", "token_type_short",
                                 "shape", "transposed", "tensor_missing", "tensor_extra", "nan", "nan_scale", "kquant_row"}) {
    const auto gguf = open_gguf(test_data("bad/gg_" + name + ".gguf").string());
    EXPECT_TRUE(gguf) << gguf.error().message;
  }
}

// Two parts of a split file.
struct Parts {
  GgufFile first, second;
  Parts() {
    first.u16("split.no", 0);
    first.u16("split.count", 2);
    first.i32("split.tensors.count", 2);
    first.string("general.architecture", "qwen3");
    first.tensor("a", {1}, kF32, "aaaa");
    second.u16("split.no", 1);
    second.u16("split.count", 2);
    second.tensor("b", {1}, kF32, "bbbb");
  }
  Result<Gguf> open(const TemporaryFolder& folder, const std::string& name) const {
    EXPECT_TRUE(write_file(folder / "m-00001-of-00002.gguf", first.bytes()));
    EXPECT_TRUE(write_file(folder / "m-00002-of-00002.gguf", second.bytes()));
    return open_gguf(folder / name);
  }
};

TEST(SplitGguf, OpensByAnyPart) {
  for (const std::string name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
    const TemporaryFolder folder;
    const auto gguf = Parts().open(folder, name);
    ASSERT_TRUE(gguf) << gguf.error().message;
    EXPECT_EQ(gguf->checkpoint.tensors.size(), 2u);
    EXPECT_EQ(gguf->string("general.architecture"), "qwen3");
    EXPECT_EQ(gguf->checkpoint.path_of(*gguf->checkpoint.find("b")), folder / "m-00002-of-00002.gguf");
  }
}

TEST(SplitGguf, RefusesPartsThatDoNotBelongTogether) {
  const TemporaryFolder folder;
  const std::string name = "m-00001-of-00002.gguf";
  Parts count;
  count.second.keys[1] = Parts().first.keys[2];
  expect_fails_naming(count.open(folder, name), {"m-00002-of-00002.gguf", "split.count"});
  Parts number;
  number.second.keys[0] = number.first.keys[0];
  expect_fails_naming(number.open(folder, name), {"m-00002-of-00002.gguf", "part 1 of 2, expected part 2 of 2"});
  Parts twice;
  twice.second.tensors = twice.first.tensors;
  expect_fails_naming(twice.open(folder, name), {"'a'", "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"});
  Parts total;
  total.second.tensors.clear();
  expect_fails_naming(total.open(folder, name), {"split.tensors.count", "1 tensors"});
  Parts other;
  other.second.string("general.architecture", "llama");
  expect_fails_naming(other.open(folder, name), {"m-00002-of-00002.gguf", "general.architecture"});
  Parts same;
  same.second.string("general.architecture", "qwen3");
  EXPECT_TRUE(same.open(folder, name));
}

TEST(SplitGguf, NamesTheMissingPart) {
  const TemporaryFolder folder;
  ASSERT_TRUE(Parts().open(folder, "m-00001-of-00002.gguf"));
  std::filesystem::remove(folder / "m-00001-of-00002.gguf");
  expect_fails_naming(open_gguf(folder / "m-00002-of-00002.gguf"), {"part 1 of 2", "m-00001-of-00002.gguf", "No such file"});
  std::filesystem::rename(folder / "m-00002-of-00002.gguf", folder / "renamed.gguf");
  expect_fails_naming(open_gguf(folder / "renamed.gguf"), {"renamed.gguf", "-00002-of-00002.gguf"});
}

TEST(Gguf, OpensGoldenModels) {
  TEAPOT_NEEDS(testing::shared_data("goldens/moe_r2"));
  for (const std::string name : {"moe_r2/model-Q4_K.gguf", "dense_r1/model-F32.gguf", "qwen3_moe/model-Q8_0.gguf"}) {
    const auto gguf = open_gguf(testing::shared_data("goldens/" + name).string());
    ASSERT_TRUE(gguf) << gguf.error().message;
    EXPECT_EQ(gguf->checkpoint.gap, "");
    EXPECT_EQ(gguf->strings("tokenizer.ggml.tokens")->size(), 512u);
  }
}

}  // namespace
}  // namespace teapot::model
