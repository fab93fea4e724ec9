// The JSON of a request, as evalscope composes it: the prompt, then the options, then what the user adds.
#pragma once

#include "base/json.h"
#include "workbench/bench/dataset.h"

namespace teapot::workbench {

Json request_json(const Prompt& prompt, const BodyOptions& options);

// A user's message in the form of the endpoint.
Prompt prompt_of(std::string text, const BodyOptions& options);

}  // namespace teapot::workbench
