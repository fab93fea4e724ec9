#include <algorithm>
#include <cmath>
#include <numeric>

#include "workbench/bench/summary.h"

namespace teapot::workbench {
namespace {

// Between the order statistics around (n - 1) * share.
double percentile(const std::vector<double>& sorted, double share) {
  const double at = static_cast<double>(sorted.size() - 1) * share;
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

}  // namespace

Distribution Distribution::of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  Distribution figures;
  figures.count = values.size();
  figures.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  figures.min = values.front();
  figures.p50 = percentile(values, 0.50);
  figures.p90 = percentile(values, 0.90);
  figures.p95 = percentile(values, 0.95);
  figures.p99 = percentile(values, 0.99);
  figures.max = values.back();
  return figures;
}

}  // namespace teapot::workbench
