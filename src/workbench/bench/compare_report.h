// A comparison for its readers: terminal, program, browser.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/compare.h"

namespace teapot::workbench {

struct CompareReport {
  std::string name;
  Json conditions;  // ComparedServers::conditions() and what else was the case
  CompareOptions options;
  std::vector<PairRecord> pairs;
  Comparison found;                   // what these pairs say
  std::vector<std::string> warnings;  // beside those of `found`
};

// One sentence: the verdict with its numbers, or why there is none.
std::string verdict_text(const CompareOptions& options, const Comparison& found);

// The gate in one sentence; empty without one.
std::string gate_text(const Comparison& found);

Json to_json(const CompareReport& report);
std::string to_text(const CompareReport& report, bool color);
std::string compare_html(const CompareReport& report);

// compare.json and compare.html in this folder.
Status write_compare_reports(const CompareReport& report, const std::string& folder);

}  // namespace teapot::workbench
