// The values of a knob: what its type allows, and how YAML says them.
#pragma once

#include "workbench/tune/knob_reader.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {

// What a value of this type must be: "a whole number". Empty: the text is one. Lists are JSON.
std::string expected_of(KnobType type, const std::string& text);

// Fills knob.values and knob.literal. Needs its type and its set.
void read_values(const YamlFields& fields, Knob& knob, std::vector<Error>& faults);

}  // namespace teapot::workbench
