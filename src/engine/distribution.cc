#include "engine/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "plan/candidate_order.h"

namespace teapot::engine {
namespace {

constexpr float kOut = -std::numeric_limits<float>::infinity();

}  // namespace

bool all_finite(std::span<const float> logits) {
  // By bits: a maximum of integers vectorises, a chain of float comparisons does not.
  uint32_t largest_exponent = 0;
  for (const float x : logits) largest_exponent = std::max(largest_exponent, std::bit_cast<uint32_t>(x) & 0x7f800000u);
  return largest_exponent != 0x7f800000u;
}

plan::Candidate largest(std::span<const float> logits) {
  plan::Candidate best{kOut, -1};
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > best.logit) best = {logits[i], static_cast<int32_t>(i)};
  }
  return best;
}

void largest(std::span<const float> logits, size_t k, std::vector<plan::Candidate>& result) {
  result.clear();
  k = std::min(k, logits.size());
  if (k == 0) return;
  // Collect what beats the k-th best known so far; whenever twice as many as needed are there, cut back and raise the bar. Ids come
  // in ascending order, so one that only equals the bar has lost to those already in.
  float bar = kOut;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > bar)) continue;
    result.push_back({logits[i], static_cast<int32_t>(i)});
    if (result.size() < 2 * k + 64) continue;
    std::nth_element(result.begin(), result.begin() + static_cast<ptrdiff_t>(k) - 1, result.end(), plan::before);
    result.resize(k);
    bar = result[k - 1].logit;
  }
  if (result.size() > k) {
    std::nth_element(result.begin(), result.begin() + static_cast<ptrdiff_t>(k) - 1, result.end(), plan::before);
    result.resize(k);
  }
  std::ranges::sort(result, plan::before);
}

void from(std::span<const float> logits, double low, std::vector<plan::Candidate>& result) {
  result.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > kOut && logits[i] >= low) result.push_back({logits[i], static_cast<int32_t>(i)});
  }
  std::ranges::sort(result, plan::before);
}

double log_sum_exp(std::span<const float> logits) {
  const double top = largest(logits).logit;
  double sum = 0;
  for (const float x : logits) sum += std::exp(x - top);
  return top + std::log(sum);
}

}  // namespace teapot::engine
