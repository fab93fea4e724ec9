// Numbers laid out to a specification, shared by % and str.format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/jinja/heap.h"

namespace teapot::text::jinja {

// No layout asks for more characters or digits than this; what does is refused.
constexpr int kMaxFormatWidth = 100'000;
constexpr int kMaxFormatDigits = 1'000;

// "1f", "-2a": digits of the magnitude in base 2, 8, 10 or 16, without sign.
std::string integer_digits(int64_t value, int base, bool upper_case);

// |value| as %f, %e, %g (type in either case) with `digits` behind the point, as C prints them; `alternate`: '#'. inf and nan too.
std::string real_digits(double value, char type, int digits, bool alternate);

}  // namespace teapot::text::jinja
