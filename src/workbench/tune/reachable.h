// What the conditions of a catalogue contradict: values that no search can come to, defaults that exclude each other.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

// "line 7: a = 1: b = 1 requires a = 0": values that can be moved to neither from the defaults, nor from where any other value leads.
std::vector<std::string> unreachable_values(const Catalogue& catalogue);

// kInvalid: a line for each default that is in force and conflicts with another. source names the catalogue.
Status check_defaults(const Catalogue& catalogue, const std::string& source);

}  // namespace teapot::workbench
