// "NAME: value" of the files of /proc/PID.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workbench/tune/counters.h"

namespace teapot::workbench {

// "VmLck:    12 kB": 12, summed over all lines of a name.
Counters numbers_in(std::string_view text);
// All values of a field, without blanks around them.
std::vector<std::string> fields_in(std::string_view text, std::string_view field);
// The same text, or processors that are all among those that were wanted: "1" and "0-2" are of "0,1,2", "00000000,00000044" is of "0x55".
bool fits(std::string_view found, std::string_view wanted);

}  // namespace teapot::workbench
