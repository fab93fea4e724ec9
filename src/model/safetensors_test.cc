#include "model/safetensors.h"

#include <cstring>

#include <gtest/gtest.h>

#include "model_files.h"

namespace teapot::model {
namespace {

using testing::expect_fails_naming;
using testing::safetensors_file;

Result<SafetensorsFile> parse(const std::string& file) { return parse_safetensors(std::as_bytes(std::span(file)), "m.safetensors"); }

// One F32 tensor "w" whose entry has these fields, and data of so many bytes.
Result<SafetensorsFile> parse_entry(const std::string& fields, size_t data) {
  return parse(safetensors_file("{\"w\":{" + fields + "}}", std::string(data, 'x')));
}

TEST(Safetensors, GivesTensorsByOffset) {
  const std::string file = safetensors_file(
      R"({"b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},"__metadata__":{"format":"pt"},"a":{"shape":[],"data_offsets":[0,4],"dtype":"F32"}}   )",
      "abcdefghijklmnop");
  const auto parsed = parse(file);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->tensors.size(), 2u);
  const Tensor& a = parsed->tensors[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.type, plan::WeightType::kF32);
  EXPECT_TRUE(a.shape.empty());
  EXPECT_EQ(0, std::memcmp(a.data, "abcd", 4));
  const Tensor& b = parsed->tensors[1];
  EXPECT_EQ(b.type_name, "F16");
  EXPECT_EQ(b.shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(b.bytes, 12u);
  EXPECT_EQ(0, std::memcmp(b.data, "efgh", 4));
  EXPECT_EQ(parsed->gap, "");
}

TEST(Safetensors, ListsTypesThatNoWeightHas) {
  const auto parsed = parse_entry(R"("dtype":"I64","shape":[2],"data_offsets":[0,16])", 16);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->tensors[0].type);
  EXPECT_EQ(parsed->tensors[0].type_name, "I64");
  EXPECT_TRUE(parse_entry(R"("dtype":"F4","shape":[2,3],"data_offsets":[0,3])", 3));
  EXPECT_FALSE(parse_entry(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1));
}

TEST(Safetensors, AcceptsEmptyTensors) {
  const auto parsed = parse_entry(R"("dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0])", 0);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->tensors[0].bytes, 0u);
}

TEST(Safetensors, RefusesBadFiles) {
  expect_fails_naming(parse(""), {"m.safetensors", "no bytes"});
  expect_fails_naming(parse("short"), {"m.safetensors", "5 bytes"});
  expect_fails_naming(parse(testing::raw(~uint64_t{0}) + "{}"), {"m.safetensors", "18446744073709551615"});
  expect_fails_naming(parse(testing::raw(uint64_t{3}) + "{}"), {"m.safetensors", "claims 3 bytes, but only 2"});
  for (const std::string header :
       {"[]", "3", "{", "{\"w\":3}", "{\"w\":[]}", "{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":[]}", "", "\xff"})
    expect_fails_naming(parse(safetensors_file(header, "")), {"m.safetensors"});
  expect_fails_naming(parse(safetensors_file(std::string(100000, '['), "")), {"m.safetensors"});
  std::string deep = "{\"w\":";
  for (int i = 0; i < 50000; ++i) deep += "{\"a\":";
  expect_fails_naming(parse(safetensors_file(deep, "")), {"m.safetensors"});
}

TEST(Safetensors, RefusesBadEntriesAndNamesThem) {
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1])", 4), {"m.safetensors", "'w'", "missing"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[4])", 4), {"'w'", "missing"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])", 4), {"'w'", "data_offsets"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])", 4), {"'w'", "dtype"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1)", 4), {"'w'", "more"});
  expect_fails_naming(parse_entry(R"("dtype":"Q7","shape":[1],"data_offsets":[0,4])", 4), {"'w'", "Q7"});
  expect_fails_naming(parse_entry(R"("dtype":7,"shape":[1],"data_offsets":[0,4])", 4), {"'w'", "dtype"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])", 4), {"'w'", "shape"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])", 4), {"m.safetensors", "nested"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":1,"data_offsets":[0,4])", 4), {"'w'", "shape"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])", 4), {"'w'", "data_offsets"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", 4), {"'w'", "before it begins"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])", 4), {"'w'", "only 4 bytes"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616])", 4), {"'w'", "data_offsets"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4), {"'w'", "[2]"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])", 4), {"'w'", "overflows"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1152921504606846976],"data_offsets":[0,4])", 4), {"'w'", "overflows"});
  expect_fails_naming(parse_entry(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])", 4),
                      {"'w'", "shape"});
}

TEST(Safetensors, RefusesTensorsThatShareBytesOrANameAndTellsGaps) {
  const auto two = [](const std::string& a, const std::string& b, const std::string& name) {
    return parse(safetensors_file("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + a + "},\"" + name +
                                      "\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + b + "}}",
                                  std::string(16, 'x')));
  };
  expect_fails_naming(two("[0,4]", "[3,7]", "b"), {"'a'", "'b'", "share bytes"});
  expect_fails_naming(two("[0,4]", "[4,8]", "a"), {"'a'", "twice"});
  const auto gap = two("[0,4]", "[6,10]", "b");
  ASSERT_TRUE(gap) << gap.error().message;
  EXPECT_EQ(gap->gap, "m.safetensors: 2 bytes of data before tensor 'b' belong to no tensor");
}

// A checkpoint with one tensor per expert has this many; nothing in the reader may be quadratic.
TEST(Safetensors, ReadsManyTensors) {
  constexpr int kTensors = 22000;
  std::string header = "{";
  for (int i = 0; i < kTensors; ++i)
    header += fmt::format(R"({}"model.layers.0.mlp.experts.{}.w":{{"dtype":"BF16","shape":[2],"data_offsets":[{},{}]}})", i == 0 ? "" : ",",
                          i, 4 * i, 4 * i + 4);
  const std::string file = safetensors_file(header + "}", std::string(4 * kTensors, 'x'));
  const auto parsed = parse(file);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->tensors.size(), size_t{kTensors});
}

}  // namespace
}  // namespace teapot::model
