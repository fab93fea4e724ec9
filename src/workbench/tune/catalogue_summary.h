// What a catalogue has, in a few lines.
#pragma once

#include <string>

#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

// Server and version; knobs by scope, by rank, by text risk, by check; which checks a machine looks at; how many values and conditions; the
// conditions that are shown but not evaluated, with their lines. Ends in a newline.
std::string summary(const Catalogue& catalogue);

}  // namespace teapot::workbench
