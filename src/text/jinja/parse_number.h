// Numbers in texts as Python's int() and float() read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teapot::text::jinja {

// Nothing if the text is no integer of this base; Failure if it is one that does not fit into 64 bits.
std::optional<int64_t> parse_python_integer(std::string_view text, int64_t base);
std::optional<double> parse_python_real(std::string_view text);

}  // namespace teapot::text::jinja
