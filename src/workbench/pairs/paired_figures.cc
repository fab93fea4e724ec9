#include "workbench/pairs/paired_figures.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace teapot::workbench {

double change_percent(double log_ratio) { return 100 * std::expm1(log_ratio); }

double PairedFigures::percent() const { return change_percent(mean); }
double PairedFigures::low_percent() const { return change_percent(mean - half_width); }
double PairedFigures::high_percent() const { return change_percent(mean + half_width); }

PairedFigures PairedFigures::of(std::span<const double> differences, double alpha) {
  PairedFigures result;
  result.pairs = static_cast<uint32_t>(differences.size());
  result.half_width = std::numeric_limits<double>::infinity();
  if (differences.empty()) return result;
  const double n = result.pairs;
  for (const double d : differences) result.mean += d;
  result.mean /= n;
  double squares = 0, neighbours = 0;
  for (size_t i = 0; i < differences.size(); ++i) {
    const double off = differences[i] - result.mean;
    squares += off * off;
    if (i > 0) neighbours += off * (differences[i - 1] - result.mean);
  }
  if (squares > 0) result.lag1 = neighbours / squares;
  if (result.pairs < 2) return result;
  result.sd = std::sqrt(squares / (n - 1));
  const boost::math::students_t_distribution<double> t(n - 1);
  result.half_width = boost::math::quantile(boost::math::complement(t, alpha / 2)) * result.sd / std::sqrt(n);
  return result;
}

double smallest_difference(double sd, uint32_t pairs) {
  constexpr double kPairsPerSquaredEffect = 12;
  if (pairs == 0) return std::numeric_limits<double>::infinity();
  return sd * std::sqrt(kPairsPerSquaredEffect / pairs);
}

}  // namespace teapot::workbench
