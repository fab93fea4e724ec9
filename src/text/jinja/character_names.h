// Characters by name, for "\N{BULLET}" in a template's text: punctuation, signs and arrows, not the tens of thousands of letters
// that Unicode names. Those are refused, and the refusal tells to write \u instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace teapot::text::jinja {

std::optional<char32_t> character_named(std::string_view name);

}  // namespace teapot::text::jinja
