// The functions that every template has.
#pragma once

#include <ctime>
#include <optional>
#include <string_view>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

using FunctionCode = Value (*)(Heap& heap, const std::tm& now, const Arguments& arguments);

struct Function {
  std::string_view name;
  FunctionCode code;  // null: it exists, but using it is an error that says that it is not supported
};

// Null if there is none of that name.
const Function* find_global(std::string_view name);

std::optional<Value> cycler_attribute(Heap& heap, const Value& cycler, std::string_view name);

}  // namespace teapot::text::jinja
