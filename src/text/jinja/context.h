// JSON as template values. Texts are not copied: the JSON must outlive the values.
#pragma once

#include "base/json.h"
#include "text/jinja/value.h"

namespace teapot::text::jinja {

Value to_value(Heap& heap, const Json& json);

}  // namespace teapot::text::jinja
