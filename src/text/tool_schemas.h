// What the request's tools say about the types of their parameters, and the conversion of a parameter's text by it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace teapot::text {

// JSON types, as a set of bits.
using TypeSet = uint8_t;
inline constexpr TypeSet kTypeNull = 1, kTypeBoolean = 2, kTypeInteger = 4, kTypeNumber = 8, kTypeObject = 16, kTypeArray = 32,
                         kTypeString = 64, kTypeOther = 128;  // other: a name that is no JSON type

// The types that a schema allows: `type` (name or list), `anyOf` and `oneOf`, `nullable`, references to places in root, else the
// types of `enum` or `const`. 0: it says nothing about types.
TypeSet schema_types(const Json& schema, const Json& root);

// The text of a parameter as the JSON value that the types allow; the text itself, as a string, if none fits.
Json value_of_text(std::string_view text, TypeSet types);

class ToolSchemas {
 public:
  // tools: OpenAI tool objects, an array (or null: none). Error (kInvalid) names the place, "tools[1].function.name".
  static Result<ToolSchemas> create(const Json& tools);

  // The value of a call's parameter. Function or parameter unknown: the text.
  Json value(const std::string& function, const std::string& parameter, std::string_view text);

 private:
  struct Function {
    Json parameters;                       // the schema of the arguments
    std::map<std::string, TypeSet> types;  // of its parameters, those that were asked for
  };
  std::map<std::string, Function> functions_;
};

}  // namespace teapot::text
