// The ratio of two times over pairs: an estimate, a sequence of limits, and the evidence against "no difference".
#pragma once

#include <span>

#include "workbench/pairs/paired_figures.h"

namespace teapot::workbench {

// B / A over some pairs.
struct RatioFigures {
  double a_ms = 0, b_ms = 0;  // geometric means
  PairedFigures log_ratio;    // with the t interval at level 1 - alpha
  double half_width = 0;      // of the confidence sequence of ln(B / A) at level 1 - alpha; infinite: too few pairs
  double ln_e = 0, p = 1;     // against "no difference"

  // Of as many pairs as both have logarithms of milliseconds. 0 < alpha < 1.
  static RatioFigures of(std::span<const double> ln_a_ms, std::span<const double> ln_b_ms, double alpha);

  double ratio() const;
  double low() const;  // of the sequence, as ratios; 0 and infinity: too few pairs
  double high() const;
};

}  // namespace teapot::workbench
