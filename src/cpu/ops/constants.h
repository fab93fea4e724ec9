// Tables that ops derive from the weights, made when the first plan wants them and shared by all plans.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace teapot::cpu {

class Constants {
 public:
  // 1 / theta^(2j/rotary_dim), each operation rounded to f32 as the reference does (spec 3.4 step 3). [rotary_dim / 2]
  const float* inverse_frequencies(float theta, uint32_t rotary_dim);

  // conv [kernel, channels], regrouped so that the channels of a head's q, k or v have their weights together: for each such slice
  // [kernel, its channels]. Slice by slice, the one of channel c begins at kernel * c.
  const float* sliced_conv(plan::VectorId id, const float* conv, const plan::StateLayout& layout);

 private:
  std::map<std::pair<float, uint32_t>, std::vector<float>> frequencies_;
  std::map<plan::VectorId, std::vector<float>> convs_;
};

}  // namespace teapot::cpu
