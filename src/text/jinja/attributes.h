// What is behind a dot or between brackets, with the sandbox's rules: names that begin with an underscore and methods that
// change their value give an undefined value whose use is a security error.
#pragma once

#include "text/jinja/value.h"

namespace teapot::text::jinja {

// object.name: an attribute of the type, else the key.
Value get_attribute(Heap& heap, const Value& object, std::string_view name);
// object[key]: the key, else an attribute of the type.
Value get_item(Heap& heap, const Value& object, const Value& key);

// The attribute itself without a look at keys: the `attr` filter. Null if there is none.
std::optional<Value> own_attribute(Heap& heap, const Value& object, std::string_view name);

// "a.b.0" as filters take it: parts between dots, numbers are indices. An integer is one part.
std::vector<Value> attribute_path(const Value& attribute);
// Follows the path; with a fallback, what is undefined on the way becomes it.
Value follow_path(Heap& heap, const Value& object, const std::vector<Value>& path, const Value* fallback);

}  // namespace teapot::text::jinja
