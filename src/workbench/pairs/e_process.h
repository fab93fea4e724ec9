// The sequential test of paired differences that stays valid however often it is looked at: a t e-process and its confidence sequence
// (Wang & Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", arXiv 2310.03722).
//
// Differences d are logarithms of ratios, d = ln(B / A) of one pair; their scale is unknown and needs no estimate. With a right-Haar prior
// on the scale s and N(0, 1/c2) on effect / s, after n pairs, S = sum of d, V = sum of d^2:
//
//   ln E = 1/2 ln(c2 / (n + c2)) - n/2 ln(1 - S^2 / ((n + c2) V))                      (V = 0: the first term alone)
//
// If the true mean is 0, E >= 1/alpha is reached at any time with a chance of at most alpha. E of one pair is 1; the largest possible is
// ((n + c2) / c2)^((n - 1) / 2), so that alpha = .05 takes at least five pairs. What it asks for is independence of the pairs: their order
// is drawn (pair_order.h) and their lag-1 correlation is reported (paired_figures.h).
#pragma once

#include <cstdint>

namespace teapot::workbench {

class EProcess {
 public:
  // c2 > 0: precision of the effect in units of the pairs' own scale; 1 suits effects of about one standard deviation of a pair.
  explicit EProcess(double c2 = 1) : c2_(c2) {}

  void add(double difference);

  uint32_t pairs() const { return pairs_; }
  double mean() const { return mean_; }  // 0 before the first pair
  double ln_e() const;                   // 0 before the first pair
  // min(1, 1/E): valid after any look.
  double p() const;

  // The sequence mean +- half_width holds the true mean after all pairs at once with a chance of at least 1 - alpha:
  //   s sqrt((n + c2)(K - 1) / ((n + c2) - K c2)),  s^2 = sum (d - mean)^2 / n,  K = ((n + c2) / (c2 alpha^2))^(1/n)
  // Infinite while that denominator isn't positive (too few pairs). 0 < alpha < 1.
  double half_width(double alpha) const;

 private:
  double c2_;
  uint32_t pairs_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of (d - mean)^2, kept by Welford's update: exactly 0 for equal differences
};

}  // namespace teapot::workbench
