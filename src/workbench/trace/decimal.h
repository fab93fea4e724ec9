// Times as decimal text, to integer nanoseconds by their digits. Never through a double: at 1.7e15 us its steps are 0.25 us.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teapot::workbench::trace {

struct Decimal {
  int64_t ns = 0;        // rounded, halves away from zero
  bool rounded = false;  // an exponent, and the last digit that was written is worth a microsecond or more
};

// text in units of 10^exponent seconds (us: -6; between -9 and 0): sign, digits, point, exponent; spaces and tabs around it. Nothing else,
// and nothing beyond 64 bits: nullopt.
std::optional<Decimal> parse_decimal(std::string_view text, int exponent);

// A whole number of units; nullopt beyond 64 bits.
std::optional<int64_t> whole_to_ns(int64_t value, int exponent);

// "s", "ms", "us", "ns" -> 0, -3, -6, -9
std::optional<int> unit_exponent(std::string_view unit);

std::string_view trimmed(std::string_view text);  // spaces, tabs, line ends

}  // namespace teapot::workbench::trace
