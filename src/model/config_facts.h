// What follows from a configuration alone, as JSON: sizes, layer kinds, parameters, bytes per token and sequence.
#pragma once

#include "base/json.h"
#include "model/model_config.h"

namespace teapot::model {

// Flat; a size that the family does not have is absent. max_position is null where the file does not say it.
Json config_facts(const ModelConfig& config);

}  // namespace teapot::model
