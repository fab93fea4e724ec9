#include "text/jinja/arguments.h"

#include <algorithm>

namespace teapot::text::jinja {

void bind_arguments(std::string_view function, const Arguments& arguments, std::span<const std::string_view> names,
                    std::span<const Value*> bound) {
  if (arguments.positional.size() > names.size()) {
    raise_runtime("{}() takes at most {} argument(s), {} given", function, names.size(), arguments.positional.size());
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) bound[i] = &arguments.positional[i];
  for (const auto& keyword : arguments.keywords) {
    const auto name = std::ranges::find(names, keyword.name);
    if (name == names.end()) raise_runtime("{}() got an unexpected keyword argument '{}'", function, keyword.name);
    const Value*& place = bound[static_cast<size_t>(name - names.begin())];
    if (place != nullptr) raise_runtime("{}() got multiple values for argument '{}'", function, keyword.name);
    place = &keyword.value;
  }
}

void expect_no_arguments(std::string_view function, const Arguments& arguments) { bind_arguments(function, arguments, {}, {}); }

std::string_view require_text(const Value& value, std::string_view what) {
  if (value.is_undefined()) raise_undefined(value);
  if (!value.is_text()) raise_runtime("{} must be str, not {}", what, type_name(value));
  return value.as_text();
}

}  // namespace teapot::text::jinja
