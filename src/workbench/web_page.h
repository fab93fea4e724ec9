// A report as one HTML file that needs no server and no network: style, data and scripts are in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace teapot::workbench {

struct WebPage {
  std::string title;
  std::string body;                       // HTML; what comes from outside has gone through escape_html
  Json data;                              // scripts see it as `data`
  std::vector<std::string_view> scripts;  // assets, in their order: "chart.min.js", "bench.js"
};

std::string escape_html(std::string_view text);

// A heading and a list in the colour of what is wrong; nothing where there are no lines.
std::string html_list(std::string_view title, const std::vector<std::string>& lines);

// The whole file. Nothing in the data can end its script element.
std::string to_html(const WebPage& page);

}  // namespace teapot::workbench
