// The figures of a run as rows of text, for the terminal and for pages.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/bench/bench.h"

namespace teapot::workbench {

struct FigureRow {
  std::string name, which;         // "output tokens", "mean"
  std::vector<std::string> cells;  // [loads]; "-" where a load has none
  std::vector<bool> bad;           // [loads]: requests failed
};

// "c=4", with the rate where requests came by one. [loads]
std::vector<std::string> load_names(std::span<const BenchRun::Load> loads);

// Rows that no load has anything for are left out.
std::vector<FigureRow> figure_rows(std::span<const BenchRun::Load> loads);

inline constexpr std::array<std::string_view, 7> kTimeHeads = {"mean", "p50", "p90", "p95", "p99", "min", "max"};

struct TimeRow {
  std::string name, load;  // "TTFT ms", "c=4"; the name stands in its first row only
  std::array<std::string, kTimeHeads.size()> cells;
};

// TTFT, TPOT, ITL and latency, each with a row a load. Those that no load has are left out.
std::vector<TimeRow> time_rows(std::span<const BenchRun::Load> loads);

// One line a load and kind of failure: "c=4: 2 died, the first: the connection closed after 3 events".
std::vector<std::string> failure_lines(const BenchRun& run);

// Four significant digits or so: the noise of a run is far above them.
std::string figure(double value);

}  // namespace teapot::workbench
