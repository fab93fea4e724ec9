#include "model/config_fields.h"

#include <cmath>

namespace teapot::model {
namespace {

// The number, if it is an integer within [low, high].
std::optional<uint64_t> integer_within(const Json& value, uint64_t low, uint64_t high) {
  if (!value.is_number_integer()) return std::nullopt;
  if (!value.is_number_unsigned() && value.get<int64_t>() < 0) return std::nullopt;
  const auto number = value.get<uint64_t>();
  if (number < low || number > high) return std::nullopt;
  return number;
}

// Enough of a value to recognise it; the file may hold megabytes of it.
std::string excerpt(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  constexpr size_t kLongest = 80;
  std::string text = dump_json(value);
  if (text.size() <= kLongest) return text;
  if (value.is_string()) return fmt::format("a string of {} bytes", text.size() - 2);
  return text.substr(0, kLongest) + "...";
}

}  // namespace

const Json* ConfigFields::find(std::string_view key) const {
  const auto it = object_->find(key);
  return it == object_->end() || it->is_null() ? nullptr : &*it;
}

std::unexpected<Error> ConfigFields::wrong(std::string_view key, const Json& found, std::string_view expected) const {
  return fail(ErrorKind::kInvalid, "{}: {} is {}, expected {}", source_, name(key), excerpt(found), expected);
}

Result<std::optional<uint32_t>> ConfigFields::integer(std::string_view key, uint64_t low, uint64_t high) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = integer_within(*value, low, high);
  if (!number) return wrong(key, *value, fmt::format("an integer from {} to {}", low, high));
  return static_cast<uint32_t>(*number);
}

Result<uint32_t> ConfigFields::required(std::string_view key, uint64_t low, uint64_t high) const {
  TEAPOT_TRY(const auto value, integer(key, low, high));
  if (!value) return fail(ErrorKind::kInvalid, "{}: {} is missing, expected an integer from {} to {}", source_, name(key), low, high);
  return *value;
}

Result<std::optional<double>> ConfigFields::number(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !std::isfinite(value->get<double>())) return wrong(key, *value, "a number");
  return value->get<double>();
}

Result<std::optional<bool>> ConfigFields::boolean(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) return wrong(key, *value, "true or false");
  return value->get<bool>();
}

Result<std::optional<std::string>> ConfigFields::string(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return wrong(key, *value, "a string");
  return value->get<std::string>();
}

Result<std::vector<int32_t>> ConfigFields::integers(std::string_view key, uint64_t low, uint64_t high) const {
  const Json* value = find(key);
  std::vector<int32_t> numbers;
  if (value == nullptr) return numbers;
  const auto add = [&](const Json& element) {
    const auto number = integer_within(element, low, high);
    if (number) numbers.push_back(static_cast<int32_t>(*number));
    return number.has_value();
  };
  const std::string expected = fmt::format("integers from {} to {}", low, high);
  if (!value->is_array()) {
    if (!add(*value)) return wrong(key, *value, expected);
    return numbers;
  }
  for (const Json& element : *value) {
    if (!add(element)) return wrong(key, element, expected);
  }
  return numbers;
}

Result<std::optional<ConfigFields>> ConfigFields::object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) return wrong(key, *value, "an object");
  return ConfigFields(*value, source_, name(key) + ".");
}

}  // namespace teapot::model
