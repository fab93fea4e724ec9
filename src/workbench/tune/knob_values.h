// The values of a knob, from YAML.
#pragma once

#include "workbench/tune/knob_reader.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {

// Fills knob.values and knob.literal. Needs its type and its set.
void read_values(const YamlFields& fields, Knob& knob, std::vector<Error>& faults);

}  // namespace teapot::workbench
