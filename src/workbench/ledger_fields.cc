#include "workbench/ledger_fields.h"

#include <cmath>

namespace teapot::workbench {

Result<const Json*> find_field(const Json& json, const char* name) {
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "{}: {} where its object is expected", name, json.type_name());
  const auto found = json.find(name);
  if (found == json.end()) return fail(ErrorKind::kInvalid, "{} is missing", name);
  return &*found;
}

Result<double> number_field(const Json& json, const char* name) {
  TEAPOT_TRY(const Json* value, find_field(json, name));
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    return fail(ErrorKind::kInvalid, "{}: {}; expected a number", name, value->type_name());
  }
  return value->get<double>();
}

Result<uint32_t> count_field(const Json& json, const char* name) {
  TEAPOT_TRY(const double value, number_field(json, name));
  if (value < 0 || value > static_cast<double>(UINT32_MAX) || value != std::floor(value)) {
    return fail(ErrorKind::kInvalid, "{}: {}; expected a count", name, value);
  }
  return static_cast<uint32_t>(value);
}

Result<std::string> text_field(const Json& json, const char* name) {
  TEAPOT_TRY(const Json* value, find_field(json, name));
  if (!value->is_string()) return fail(ErrorKind::kInvalid, "{}: {}; expected a string", name, value->type_name());
  return value->get<std::string>();
}

}  // namespace teapot::workbench
