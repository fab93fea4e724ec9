#include "text/tool_schemas.h"

#include <gtest/gtest.h>

namespace teapot::text {
namespace {

TypeSet types(const char* schema, const char* root = "{}") { return schema_types(Json::parse(schema), Json::parse(root)); }

TEST(SchemaTypes, FollowEveryWayOfSayingThem) {
  EXPECT_EQ(types(R"({"type": "integer"})"), kTypeInteger);
  EXPECT_EQ(types(R"({"type": ["string", "null"]})"), kTypeString | kTypeNull);
  EXPECT_EQ(types(R"({"anyOf": [{"type": "object"}, {"oneOf": [{"type": "array"}]}]})"), kTypeObject | kTypeArray);
  EXPECT_EQ(types(R"({"type": "number", "nullable": true})"), kTypeNumber | kTypeNull);
  EXPECT_EQ(types(R"({"enum": [1, "a", null]})"), kTypeInteger | kTypeString | kTypeNull);
  EXPECT_EQ(types(R"({"const": 1.5})"), kTypeNumber);
  EXPECT_EQ(types(R"({"type": "date"})"), kTypeOther);
  EXPECT_EQ(types(R"({"description": "x"})"), 0);
  EXPECT_EQ(types("true"), 0);
}

TEST(SchemaTypes, FollowReferences) {
  const char* root = R"({"$defs": {"a": {"$ref": "#/$defs/b~1c"}, "b/c": {"type": "object"},
                                   "loop": {"$ref": "#/$defs/loop"}, "tree": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]}}})";
  EXPECT_EQ(types(R"({"$ref": "#/$defs/a"})", root), kTypeObject);
  EXPECT_EQ(types(R"({"$ref": "#/$defs/loop"})", root), 0);
  EXPECT_EQ(types(R"({"$ref": "#/$defs/tree"})", root), kTypeNull);
  EXPECT_EQ(types(R"({"$ref": "#/$defs/none"})", root), 0);
  EXPECT_EQ(types(R"({"$ref": "#not a pointer"})", root), 0);
  EXPECT_EQ(types(R"({"$ref": "other.json"})", root), 0);
  EXPECT_EQ(types(R"({"$ref": 5, "type": "null"})", root), kTypeNull);
}

TEST(ValueOfText, StaysTextWhereNoTypeFits) {
  EXPECT_EQ(value_of_text(" 5 ", kTypeInteger), 5);
  EXPECT_EQ(value_of_text("5.0", kTypeInteger), "5.0");
  EXPECT_EQ(value_of_text("5.0", kTypeInteger | kTypeNumber), 5.0);
  EXPECT_EQ(value_of_text(" 5 ", kTypeString), " 5 ");
  EXPECT_EQ(value_of_text("NONE", kTypeNull), nullptr);
  EXPECT_EQ(value_of_text("true", kTypeNumber), "true");
  EXPECT_EQ(value_of_text("1e999", kTypeNumber), "1e999");
  EXPECT_EQ(value_of_text("123456789012345678901234567890", kTypeInteger),
            "123456789012345678901234567890");  // no double: digits would be lost
  EXPECT_EQ(value_of_text("", kTypeObject), "");
  EXPECT_EQ(value_of_text("[1]", 0), Json::array({1}));
  EXPECT_EQ(value_of_text("\"a\"", 0), "\"a\"");
}

}  // namespace
}  // namespace teapot::text
