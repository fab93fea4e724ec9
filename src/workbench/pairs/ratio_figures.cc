#include "workbench/pairs/ratio_figures.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "workbench/pairs/e_process.h"

namespace teapot::workbench {
namespace {

double geometric_mean(std::span<const double> logarithms) {
  return std::exp(std::accumulate(logarithms.begin(), logarithms.end(), 0.0) / static_cast<double>(logarithms.size()));
}

}  // namespace

RatioFigures RatioFigures::of(std::span<const double> ln_a_ms, std::span<const double> ln_b_ms, double alpha) {
  RatioFigures result;
  EProcess process;
  std::vector<double> differences;
  for (size_t pair = 0; pair < ln_a_ms.size(); ++pair) {
    differences.push_back(ln_b_ms[pair] - ln_a_ms[pair]);
    process.add(differences.back());
  }
  result.log_ratio = PairedFigures::of(differences, alpha);
  result.half_width = process.half_width(alpha);
  result.ln_e = process.ln_e();
  result.p = process.p();
  if (differences.empty()) return result;
  result.a_ms = geometric_mean(ln_a_ms);
  result.b_ms = geometric_mean(ln_b_ms);
  return result;
}

double RatioFigures::ratio() const { return std::exp(log_ratio.mean); }
double RatioFigures::low() const { return std::exp(log_ratio.mean - half_width); }
double RatioFigures::high() const { return std::exp(log_ratio.mean + half_width); }

}  // namespace teapot::workbench
