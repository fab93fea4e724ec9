#include "base/json.h"

#include <gtest/gtest.h>

namespace teapot {
namespace {

TEST(Json, KeepsTheOrderOfKeys) {
  const auto json = parse_json(R"({"zebra": 1, "ant": [2, {"y": 3, "b": 4}]})", "test");
  ASSERT_TRUE(json);
  EXPECT_EQ(dump_json(*json), R"({"zebra":1,"ant":[2,{"y":3,"b":4}]})");
}

TEST(Json, DepthIsLimited) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(200), "test"));
  for (const size_t depth : {300u, 50'000u, 5'000'000u}) {
    const auto deep = parse_json(nested(depth), "bomb.json");
    ASSERT_FALSE(deep);
    EXPECT_EQ(deep.error().message, "bomb.json: nested deeper than 256 levels");
  }
  EXPECT_FALSE(parse_json(std::string(5'000'000, '['), "unclosed"));
}

TEST(Json, ErrorsNameTheSourceAndThePlace) {
  for (const char* bad : {"", "{", "{\"a\": }", "nul", "[1,]", "{} {}", "\"\xff\"", "01", "1e999999"}) {
    const auto json = parse_json(bad, "some file");
    ASSERT_FALSE(json) << bad;
    EXPECT_EQ(json.error().kind, ErrorKind::kInvalid);
    EXPECT_TRUE(json.error().message.starts_with("some file: not JSON: ")) << json.error().message;
  }
}

TEST(Json, DuplicateKeysCanBeRefused) {
  const char* text = R"({"a": {"x": 1, "y": 2}, "b": {"x": 1, "x": 2}})";
  EXPECT_TRUE(parse_json(text, "test"));
  const auto strict = parse_json(text, "test", {.refuse_duplicate_keys = true});
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().message, "test: key 'x' stands there twice");
  EXPECT_TRUE(parse_json(R"([{"x": 1}, {"x": {"x": 1}}])", "test", {.refuse_duplicate_keys = true}));
}

TEST(Json, KeysOfOneObjectAreLimited) {
  const auto object = [](size_t keys) {
    std::string text = "{";
    for (size_t i = 0; i < keys; ++i) text += fmt::format("{}\"key{}\": {{}}", i == 0 ? "" : ",", i);
    return text + "}";
  };
  EXPECT_TRUE(parse_json(object(10'000), "test"));
  const auto many = parse_json(object(500'000), "test");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message, "test: an object with more than 10000 keys");
}

TEST(Json, InvalidUtf8IsReplacedWhenWritten) { EXPECT_EQ(dump_json(Json{{"text", "a\xffz"}}), "{\"text\":\"a\xef\xbf\xbdz\"}"); }

TEST(Json, MissingFileIsNotFound) {
  const auto json = read_json_file("/nonexistent/config.json");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace teapot
