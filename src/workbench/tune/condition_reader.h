// Conditions as a catalogue writes them.
#pragma once

#include <string>

#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

// "name", "name = value", "name != value", "name > 1" (>=, <, <=), "name in A, B", where name is a knob's and the value is one word, a
// number, or one of that knob's values; else text. With `required`, the name of a knob that has a value by the step's tokens stands for
// that value, and so does "name = any text".
Condition parse_condition(const std::string& text, const Catalogue& catalogue, bool required);

}  // namespace teapot::workbench
