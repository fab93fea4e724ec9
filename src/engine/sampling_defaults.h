// How a checkpoint wants to be sampled when the request does not say.
#pragma once

#include "engine/request.h"
#include "model/model.h"

namespace teapot::engine {

// generation_config.json's values (do_sample false: temperature 0), those of SamplingParams for what it leaves out.
inline SamplingParams default_sampling(const model::GenerationConfig& file) {
  SamplingParams sampling;
  sampling.temperature = file.do_sample.value_or(true) ? static_cast<float>(file.temperature.value_or(1)) : 0;
  sampling.top_k = static_cast<int>(file.top_k.value_or(0));
  sampling.top_p = static_cast<float>(file.top_p.value_or(1));
  sampling.min_p = static_cast<float>(file.min_p.value_or(0));
  sampling.repetition_penalty = static_cast<float>(file.repetition_penalty.value_or(1));
  return sampling;
}

}  // namespace teapot::engine
