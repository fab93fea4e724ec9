// What makes a model the same one, wherever it lies and whenever it was copied.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

// {"files", "bytes", "hash"}, the hash over each file's size, its first and its last MiB. path: a GGUF file, with the other parts of a
// split one, or a folder: its .safetensors and .json.
Result<Json> model_identity(const std::string& path);

}  // namespace teapot::workbench
