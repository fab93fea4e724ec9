#include <algorithm>
#include <cmath>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

// Softmax over all experts, then the top k of its values: in this order, so that values that round to equals are told apart by index.
void choose_experts(std::span<float> logits, bool renormalise, std::span<int32_t> experts, std::span<float> weights) {
  const float highest = *std::ranges::max_element(logits);
  for (float& p : logits) p = std::exp(p - highest);
  float sum = 0;
  for (const float p : logits) sum += p;
  for (float& p : logits) p /= sum;

  // Sorted as they come. A row of NaN chooses experts that exist, its logits will tell.
  size_t chosen = 0;
  for (size_t e = 0; e < logits.size(); ++e) {
    const float p = logits[e];
    if (chosen == weights.size() && !(p > weights[chosen - 1])) continue;
    size_t at = chosen < weights.size() ? chosen++ : chosen - 1;
    for (; at > 0 && p > weights[at - 1]; --at) {
      weights[at] = weights[at - 1];
      experts[at] = experts[at - 1];
    }
    weights[at] = p;
    experts[at] = static_cast<int32_t>(e);
  }
  if (!renormalise) return;
  float chosen_sum = 0;
  for (const float weight : weights) chosen_sum += weight;
  for (float& weight : weights) weight /= chosen_sum;
}

}  // namespace teapot::cpu
