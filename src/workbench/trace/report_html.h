// The answer as one HTML file that opens without a server: bars of steps, a timeline of one step, tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/trace/analysis.h"
#include "workbench/trace/compare.h"

namespace teapot::workbench::trace {

// The analyses must have kept their traces. Of traces with very many slices only the first steps' are drawn; the page says so.
std::string to_html(const std::vector<Analysis>& ranks, const std::optional<Comparison>& against);

}  // namespace teapot::workbench::trace
