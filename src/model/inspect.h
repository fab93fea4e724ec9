// What `teapot inspect` knows of a model: facts as JSON, and the same facts for people.
#pragma once

#include <string>

#include "base/json.h"
#include "model/model.h"

namespace teapot::model {

// config_facts and layer kinds.
Json inspect_config(const ModelConfig& config);

// And what the files hold: tensors and types, bytes by part, bytes read per decoded token, MTP, what was skipped, sampling defaults, notes.
Json inspect_model(const Model& model);

// Some lines of text; the tensors as one line for each pattern of names.
std::string inspect_text(const Json& facts);

}  // namespace teapot::model
