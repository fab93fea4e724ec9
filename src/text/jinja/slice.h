// Parts of texts, lists and tuples, and the text operations that methods and filters share.
#pragma once

#include "text/jinja/value.h"

namespace teapot::text::jinja {

// value[start:stop:step]; None stands for a bound that is not given.
Value slice(Heap& heap, const Value& value, const Value& start, const Value& stop, const Value& step);

// count < 0: all. The mark of `safe` stays, and then what is put in is escaped.
Value replace_text(Heap& heap, const Value& text, const Value& old, const Value& fresh, int64_t count);

// str.center()
Value center_text(Heap& heap, std::string_view text, int64_t width, std::string_view fill);

}  // namespace teapot::text::jinja
