// What may stand behind `is`.
#pragma once

#include <string_view>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

using TestCode = bool (*)(Heap& heap, const Value& value, const Arguments& arguments);

struct TestEntry {
  std::string_view name;
  TestCode code;
};

// Null if there is none of that name.
const TestEntry* find_test(std::string_view name);

}  // namespace teapot::text::jinja
