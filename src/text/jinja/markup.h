// Text marked safe (`| safe`, `| escape`): as Python's Markup, joining it to other text escapes the other.
#pragma once

#include <string>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

std::string escape_html(std::string_view text);

// left + right
Value join_texts(Heap& heap, const Value& left, const Value& right);

}  // namespace teapot::text::jinja
