// Fields of a batch command's line. A missing or null optional field has its default; one of another type is an error that names it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::cli {

// The line's field; null if it is not there. Error: the line is no object.
Result<Json> field(const Json& line, const char* name);

// What stands in a field, for errors: the type's name, "nothing" for a field that is null or not there.
const char* found(const Json& value);

Result<std::vector<std::string>> string_list(const Json& line, const char* name);
Result<bool> optional_bool(const Json& line, const char* name, bool fallback);
Result<std::string> optional_string(const Json& line, const char* name, const std::string& fallback);

}  // namespace teapot::cli
