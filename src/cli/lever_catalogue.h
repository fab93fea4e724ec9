// Our own server as a knob catalogue.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "plan/switch_report.h"
#include "workbench/tune/catalogue.h"

namespace teapot::cli {

// YAML for `teapot tune` (data/catalogues/README.md): the options of `teapot serve` as they are in this program, with their defaults, and
// what levers.json says of each. reports: what became of the switches with some model, told beside their effects; none is needed.
// kInternal: levers.json and the options of `serve` differ.
Result<std::string> lever_catalogue(const std::vector<plan::SwitchReport>& reports);

// A catalogue by its path or name; "teapot" is our own.
Result<workbench::CatalogueText> open_catalogue(const std::string& path_or_name);
// All names.
std::vector<std::string> catalogue_names();

}  // namespace teapot::cli
