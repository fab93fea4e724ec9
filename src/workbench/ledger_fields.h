// Fields of a ledger's lines. All errors are kInvalid and name the field, what was found and what was expected.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

Result<const Json*> find_field(const Json& json, const char* name);
Result<double> number_field(const Json& json, const char* name);  // finite
Result<std::string> text_field(const Json& json, const char* name);
Result<bool> bool_field(const Json& json, const char* name);
Result<uint32_t> count_field(const Json& json, const char* name);

}  // namespace teapot::workbench
