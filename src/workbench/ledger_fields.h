// Fields of a ledger's lines. All errors are kInvalid and name the field, what was found and what was expected.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

Result<const Json*> find_field(const Json& json, const char* name);
Result<double> number_field(const Json& json, const char* name);  // finite
Result<std::string> text_field(const Json& json, const char* name);
Result<uint32_t> count_field(const Json& json, const char* name);

// The enumerator whose name stands there.
template <class Enum, size_t n>
Result<Enum> name_field(const Json& json, const char* field, const std::array<std::string_view, n>& names) {
  TEAPOT_TRY(const std::string text, text_field(json, field));
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return fail(ErrorKind::kInvalid, "{}: '{}'; expected one of {}", field, text, fmt::join(names, ", "));
  return static_cast<Enum>(found - names.begin());
}

}  // namespace teapot::workbench
