// The rope fields of config.json, which move between files: rope_parameters, rope_scaling, or beside the other fields (spec 1.2).
#pragma once

#include "base/error.h"
#include "model/config_fields.h"
#include "model/model_config.h"

namespace teapot::model {

// Sets rope_theta, partial_rotary_factor, rotary_dim and mrope_section; config.family and head_dim are set already. A field that
// stands twice must say the same; scaled kinds of rope (yarn, linear ...) are kUnsupported.
Status read_hf_rope(const ConfigFields& text, ModelConfig& config);

}  // namespace teapot::model
