#include "workbench/eval/wilson.h"

#include <cmath>

namespace teapot::workbench {

ShareInterval wilson_95(uint64_t hits, uint64_t trials) {
  if (trials == 0) return {};
  constexpr double kZ = 1.959963984540054;  // of the normal distribution, two-sided 95 %
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(hits) / n, scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {hits == 0 ? 0 : middle - half, hits == trials ? 1 : middle + half};
}

}  // namespace teapot::workbench
