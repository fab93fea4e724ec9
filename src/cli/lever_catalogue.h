// Our own server as a knob catalogue.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "plan/switch_report.h"

namespace teapot::cli {

// YAML for `teapot tune` (data/catalogues/README.md): the options of `teapot serve` as they are in this program, with their defaults, and
// what levers.json says of each. reports: what became of the switches with some model, told beside their effects; none is needed.
// kInternal: levers.json and the options of `serve` differ.
Result<std::string> lever_catalogue(const std::vector<plan::SwitchReport>& reports);

}  // namespace teapot::cli
