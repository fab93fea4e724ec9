#include "cli/json_fields.h"

namespace teapot::cli {

Result<Json> field(const Json& line, const char* name) {
  if (!line.is_object()) return fail(ErrorKind::kInvalid, "{} where an object is expected", line.type_name());
  const auto found = line.find(name);
  return found == line.end() ? Json() : *found;
}

const char* found(const Json& value) { return value.is_null() ? "nothing" : value.type_name(); }

Result<std::vector<std::string>> string_list(const Json& line, const char* name) {
  TEAPOT_TRY(const Json list, field(line, name));
  if (!list.is_array()) return fail(ErrorKind::kInvalid, "{}: {} where an array of strings is expected", name, found(list));
  std::vector<std::string> result;
  for (const Json& item : list) {
    if (!item.is_string()) {
      return fail(ErrorKind::kInvalid, "{}[{}]: {} where a string is expected", name, result.size(), item.type_name());
    }
    result.push_back(item);
  }
  return result;
}

Result<bool> optional_bool(const Json& line, const char* name, bool fallback) {
  TEAPOT_TRY(const Json value, field(line, name));
  if (value.is_null()) return fallback;
  if (!value.is_boolean()) return fail(ErrorKind::kInvalid, "{}: {} where true or false is expected", name, found(value));
  return value.get<bool>();
}

Result<std::string> optional_string(const Json& line, const char* name, const std::string& fallback) {
  TEAPOT_TRY(const Json value, field(line, name));
  if (value.is_null()) return fallback;
  if (!value.is_string()) return fail(ErrorKind::kInvalid, "{}: {} where a string is expected", name, found(value));
  return value.get<std::string>();
}

}  // namespace teapot::cli
