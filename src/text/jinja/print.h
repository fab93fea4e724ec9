// How values look: Python's str(), repr() and json.dumps().
#pragma once

#include <optional>
#include <string>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

// str(). Values whose text Python makes from an address (generators, functions) are a runtime error.
void append_str(Heap& heap, std::string& out, const Value& value);
void append_repr(Heap& heap, std::string& out, const Value& value);

std::string repr_real(double value);           // the shortest digits that read back, as Python writes them
std::string repr_text(std::string_view text);  // quoted

// The value itself if it is a text, else its str(): what text filters do with their input.
Value to_text(Heap& heap, const Value& value);
// str() as a text without the mark of `safe`.
std::string_view to_plain_text(Heap& heap, const Value& value);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;  // of one level
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
};

// json.dumps(). Values that JSON does not have are a runtime error.
std::string to_json(Heap& heap, const Value& value, const JsonStyle& style);

}  // namespace teapot::text::jinja
