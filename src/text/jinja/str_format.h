// str.format(): "{} {0} {name} {:>8} {!r}".
#pragma once

#include "text/jinja/value.h"

namespace teapot::text::jinja {

// Attribute and item access inside the braces, nested braces and locale types are refused.
Value str_format(Heap& heap, std::string_view format, const Arguments& arguments);

}  // namespace teapot::text::jinja
