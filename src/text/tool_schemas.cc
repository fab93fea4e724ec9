#include "text/tool_schemas.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <vector>

#include "text/tags.h"

namespace teapot::text {
namespace {

TypeSet type_named(const Json& name) {
  static constexpr std::pair<std::string_view, TypeSet> kNames[] = {
      {"null", kTypeNull},     {"boolean", kTypeBoolean}, {"integer", kTypeInteger}, {"number", kTypeNumber},
      {"object", kTypeObject}, {"array", kTypeArray},     {"string", kTypeString},
  };
  for (const auto& [known, type] : kNames) {
    if (name == known) return type;
  }
  return kTypeOther;
}

TypeSet type_of_value(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return kTypeNull;
    case Json::value_t::boolean:
      return kTypeBoolean;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return kTypeInteger;
    case Json::value_t::number_float:
      return kTypeNumber;
    case Json::value_t::object:
      return kTypeObject;
    case Json::value_t::array:
      return kTypeArray;
    default:
      return kTypeString;
  }
}

// "#/$defs/point", a JSON pointer behind the #. Null: it leads nowhere in root.
const Json* referred(const Json& reference, const Json& root) {
  if (!reference.is_string() || !reference.get_ref<const std::string&>().starts_with('#')) return nullptr;
  try {
    const Json::json_pointer pointer(reference.get_ref<const std::string&>().substr(1));
    return root.contains(pointer) ? &root.at(pointer) : nullptr;
  } catch (const Json::exception&) {
    return nullptr;
  }
}

const Json* member(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? nullptr : &*found;
}

// Schemas may refer to themselves, and to the same one from many places: each is asked once.
class Types {
 public:
  explicit Types(const Json& root) : root_(root) {}

  TypeSet of(const Json& first) {
    TypeSet types = 0;
    std::vector<const Json*> todo = {&first};
    while (!todo.empty()) {
      const Json* schema = todo.back();
      todo.pop_back();
      while (const Json* reference = member(*schema, "$ref")) {
        const Json* target = referred(*reference, root_);
        if (target == nullptr || !seen_.insert(schema).second) break;
        schema = target;
      }
      if (schema->is_object() && seen_.insert(schema).second) types |= own(*schema, todo);
    }
    return types;
  }

 private:
  static TypeSet own(const Json& schema, std::vector<const Json*>& todo) {
    TypeSet types = 0;
    if (const Json* type = member(schema, "type")) {
      if (type->is_string()) types |= type_named(*type);
      if (type->is_array()) {
        for (const Json& name : *type) types |= type_named(name);
      }
    }
    bool has_parts = false;
    for (const char* key : {"anyOf", "oneOf"}) {
      const Json* parts = member(schema, key);
      if (parts == nullptr || !parts->is_array()) continue;
      for (const Json& part : *parts) {
        todo.push_back(&part);
        has_parts = true;
      }
    }
    if (types == 0 && !has_parts) {
      if (const Json* values = member(schema, "enum"); values != nullptr && values->is_array()) {
        for (const Json& value : *values) types |= type_of_value(value);
      } else if (const Json* value = member(schema, "const")) {
        types |= type_of_value(*value);
      }
    }
    const Json* nullable = member(schema, "nullable");
    return nullable != nullptr && *nullable == true ? types | kTypeNull : types;
  }

  const Json& root_;
  std::set<const Json*> seen_;
};

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
}

}  // namespace

TypeSet schema_types(const Json& schema, const Json& root) { return Types(root).of(schema); }

Json value_of_text(std::string_view text, TypeSet types) {
  const std::string_view trimmed = trim(text);
  if ((types & kTypeNull) && (equals_ignoring_case(trimmed, "null") || equals_ignoring_case(trimmed, "none"))) return nullptr;
  if (types & kTypeBoolean) {
    if (equals_ignoring_case(trimmed, "true")) return true;
    if (equals_ignoring_case(trimmed, "false")) return false;
  }
  constexpr TypeSet kAsJson = kTypeInteger | kTypeNumber | kTypeObject | kTypeArray;
  if (types == 0 || (types & kAsJson)) {
    const Result<Json> json = parse_json(trimmed, "value");
    if (json && types == 0 && !json->is_string()) return *json;
    if (json && types != 0) {
      TypeSet type = type_of_value(*json);
      if (type == kTypeInteger) type |= kTypeNumber;
      if (type & types & kAsJson) return *json;
    }
  }
  return std::string(text);
}

Result<ToolSchemas> ToolSchemas::create(const Json& tools) {
  ToolSchemas result;
  if (tools.is_null()) return result;
  if (!tools.is_array()) return fail(ErrorKind::kInvalid, "tools: {} where an array is expected", tools.type_name());
  for (size_t i = 0; i < tools.size(); ++i) {
    const Json* function = member(tools[i], "function");
    if (function == nullptr || !function->is_object()) return fail(ErrorKind::kInvalid, "tools[{}].function: an object is expected", i);
    const Json* name = member(*function, "name");
    if (name == nullptr || !name->is_string()) return fail(ErrorKind::kInvalid, "tools[{}].function.name: a string is expected", i);
    const Json* parameters = member(*function, "parameters");
    result.functions_[*name] = {parameters == nullptr ? Json() : *parameters, {}};
  }
  return result;
}

Json ToolSchemas::value(const std::string& function, const std::string& parameter, std::string_view text) {
  const auto found = functions_.find(function);
  if (found == functions_.end()) return std::string(text);
  Function& known = found->second;
  const Json* properties = member(known.parameters, "properties");
  const Json* schema = properties == nullptr ? nullptr : member(*properties, parameter.c_str());
  if (schema == nullptr) return std::string(text);
  const auto [types, is_new] = known.types.try_emplace(parameter, 0);
  if (is_new) types->second = schema_types(*schema, known.parameters);
  return value_of_text(text, types->second);
}

}  // namespace teapot::text
