// The number that a worked solution ends in, and when two of them are the same.
//
// Exact match. The answer of a reply is the first number behind its last "####" that has one on its line; of a reply without that, its last
// number. Before numbers are compared, a currency sign, the commas of thousands, leading zeros and zeros at a fraction's end are dropped:
// "$1,200.00" is "1200", "18." is "18", ".50" is "0.5". A minus belongs to the number unless a letter, digit or bracket stands before it
// ("10-4" ends in 4). Words, fractions ("3/4" ends in 4), powers and percentages have no other meaning than their digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace teapot::workbench {

// In canonical form; nothing for a text without a number.
std::optional<std::string> final_number(std::string_view reply);

}  // namespace teapot::workbench
