// What a fixed number of pairs says, and what a number of pairs could say.
#pragma once

#include <cstdint>
#include <span>

namespace teapot::workbench {

// Of ln(after / before), in percent.
double change_percent(double log_ratio);

struct PairedFigures {
  uint32_t pairs = 0;
  double mean = 0;
  double sd = 0;          // of one pair's difference, by n - 1; 0 for fewer than two pairs
  double half_width = 0;  // of Student's t interval at the level asked for: right for a number of pairs fixed beforehand, not for one that
                          // was stopped at a good moment; infinite for fewer than two pairs
  double lag1 = 0;  // correlation of each difference with the one before: nothing here holds if it is far from 0; 0 where all are equal

  // Of differences of logarithms: the mean and the ends of the interval, as changes.
  double percent() const;
  double low_percent() const;
  double high_percent() const;

  // 0 < alpha < 1.
  static PairedFigures of(std::span<const double> differences, double alpha);
};

// The difference that so many pairs find, or exclude, about as often as not: sd sqrt(12 / pairs). The sequential test at alpha = .05 takes
// 12 pairs in the median where the effect is one standard deviation of a pair, 36 where it is half of one.
double smallest_difference(double sd, uint32_t pairs);

}  // namespace teapot::workbench
