// Scripts, styles and tables that are built into the program: the files of assets/, and the chart library.
#pragma once

#include <string_view>
#include <vector>

namespace teapot::workbench {

// "page.css", "chart.min.js": the file's text, valid for ever. Ends the program for a name that was not built in.
std::string_view find_asset(std::string_view name);
std::vector<std::string_view> asset_names();

}  // namespace teapot::workbench
