// The methods of texts, lists, tuples and dicts that templates may call.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

using MethodCode = Value (*)(Heap& heap, const Value& self, const Arguments& arguments);

struct MethodEntry {
  std::string_view name;
  MethodCode code;       // null: Python has it, we do not; calling it is an error that says so
  bool changes = false;  // the sandbox keeps it away, since it would change the value
};

// A method and the value it was taken from.
struct Method {
  Value self;
  const MethodEntry* entry;
};

// Null if Python's type has no such public attribute.
const MethodEntry* find_method(const Value& self, std::string_view name);
std::span<const MethodEntry> text_methods();
std::span<const MethodEntry> list_methods();
std::span<const MethodEntry> tuple_methods();
std::span<const MethodEntry> dict_methods();

Value call_method(Heap& heap, const Method& method, const Arguments& arguments);

}  // namespace teapot::text::jinja
