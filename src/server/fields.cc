#include "server/fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

namespace teapot::server {
namespace {

std::unexpected<ApiError> wrong_kind(const char* name, const char* expected, const Json& found) {
  return bad_field(name, fmt::format("'{}' must be {}, found {}", name, expected, kind_of(found)));
}

}  // namespace

std::string kind_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "an integer";
    case Json::value_t::number_float:
      return "a number";
    default:
      return "something else";
  }
}

const Json* Fields::find(const char* name) const {
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

ApiResult<std::optional<bool>> Fields::boolean(const char* name) const {
  const Json* field = find(name);
  if (field == nullptr) return std::nullopt;
  if (!field->is_boolean()) return wrong_kind(name, "a boolean", *field);
  return field->get<bool>();
}

ApiResult<std::optional<int64_t>> Fields::integer(const char* name, int64_t min, int64_t max) const {
  const Json* field = find(name);
  if (field == nullptr) return std::nullopt;
  if (!field->is_number_integer()) return wrong_kind(name, "an integer", *field);
  const bool too_large = field->is_number_unsigned() && field->get<uint64_t>() > static_cast<uint64_t>(max);
  if (too_large || field->get<int64_t>() < min || field->get<int64_t>() > max)
    return bad_field(name, fmt::format("'{}' must be between {} and {}, found {}", name, min, max, field->dump()));
  return field->get<int64_t>();
}

ApiResult<std::optional<double>> Fields::number(const char* name, double min, double max) const {
  const Json* field = find(name);
  if (field == nullptr) return std::nullopt;
  if (!field->is_number()) return wrong_kind(name, "a number", *field);
  const double value = field->get<double>();
  if (!std::isfinite(value) || value < min || value > max)
    return bad_field(name, fmt::format("'{}' must be between {} and {}, found {}", name, min, max, field->dump()));
  return value;
}

ApiResult<std::optional<std::string>> Fields::string(const char* name) const {
  const Json* field = find(name);
  if (field == nullptr) return std::nullopt;
  if (!field->is_string()) return wrong_kind(name, "a string", *field);
  return field->get<std::string>();
}

ApiResult<const Json*> Fields::array(const char* name) const {
  const Json* field = find(name);
  if (field != nullptr && !field->is_array()) return wrong_kind(name, "an array", *field);
  return field;
}

ApiResult<const Json*> Fields::object(const char* name) const {
  const Json* field = find(name);
  if (field != nullptr && !field->is_object()) return wrong_kind(name, "an object", *field);
  return field;
}

ApiResult<void> Fields::only(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return bad_field(name, fmt::format("'{}' is no field here; expected: {}", name, fmt::join(names, ", ")));
  }
  return {};
}

ApiResult<void> Fields::unsupported(const char* name, const Json& harmless) const {
  const Json* field = find(name);
  if (field == nullptr || *field == harmless) return {};
  return bad_field(name, fmt::format("'{}' is not supported yet", name));
}

ApiResult<Json> parse_body(const std::string& body) {
  auto parsed = parse_json(body, "request body");
  if (!parsed) return std::unexpected(ApiError{400, parsed.error().message, "", "", 0});
  if (!parsed->is_object())
    return std::unexpected(ApiError{400, fmt::format("the request body must be a JSON object, found {}", kind_of(*parsed)), "", "", 0});
  return *std::move(parsed);
}

}  // namespace teapot::server
