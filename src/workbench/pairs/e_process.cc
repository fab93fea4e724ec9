#include "workbench/pairs/e_process.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace teapot::workbench {

void EProcess::add(double difference) {
  ++pairs_;
  const double before = difference - mean_;
  mean_ += before / pairs_;
  squares_ += before * (difference - mean_);
}

double EProcess::ln_e() const {
  if (pairs_ == 0) return 0;
  const double n = pairs_, total = squares_ + n * mean_ * mean_;  // V
  const double first = 0.5 * std::log(c2_ / (n + c2_));
  if (total <= 0) return first;
  // 1 - S^2 / ((n + c2) V), without the difference of two near numbers.
  const double rest = (squares_ + c2_ * n * mean_ * mean_ / (n + c2_)) / total;
  return first - n / 2 * std::log(rest);
}

double EProcess::p() const { return std::min(1.0, std::exp(-ln_e())); }

double EProcess::half_width(double alpha) const {
  if (pairs_ == 0) return std::numeric_limits<double>::infinity();
  const double n = pairs_, sum = n + c2_;
  const double k = std::pow(sum / (c2_ * alpha * alpha), 1 / n);
  const double rest = sum - k * c2_;
  if (rest <= 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(squares_ / n * sum * (k - 1) / rest);
}

}  // namespace teapot::workbench
