// The % operator of texts, and with it the `format` filter.
#pragma once

#include "text/jinja/value.h"

namespace teapot::text::jinja {

// arguments: a tuple of values, a dict for %(name)s, or one value.
Value printf_format(Heap& heap, const Value& format, const Value& arguments);

}  // namespace teapot::text::jinja
