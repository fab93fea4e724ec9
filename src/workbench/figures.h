// Repeated measurements in a few figures.
#pragma once

#include <algorithm>
#include <vector>

namespace teapot::workbench {

// At least one value. Of an even count the mean of the middle two.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Median, least and largest.
struct Spread {
  double median = 0, min = 0, max = 0;

  static Spread of(const std::vector<double>& values) {
    return {workbench::median(values), std::ranges::min(values), std::ranges::max(values)};
  }
};

}  // namespace teapot::workbench
