// config.json of a Hugging Face checkpoint (spec 1).
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "model/model_config.h"

namespace teapot::model {

// The text model that `json` describes, its fields at the root or in text_config. Absent fields have the default of the reference
// class, null counts as absent, unknown ones are ignored. source names the file in errors. kInvalid names the field, what was found and
// what was expected; kUnsupported what is sound but not there: another model_type, activation, kind of rope.
// A quantization block is none of its business (hf_directory.h).
Result<ModelConfig> read_hf_config(const Json& json, const std::string& source);

}  // namespace teapot::model
