// The lines of a dataset's file as prompts, in evalscope's formats.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/bench/dataset.h"

namespace teapot::workbench {

// One prompt a line; empty lines are none.
//   custom        text
//   line_by_line  text, or JSON: an array of messages, or an object that is a whole request
//   openqa        {"question": text}
//   gsm8k         {"question": text, "answer": text}
// kInvalid names the line that is none of that; tokens are not counted.
Result<std::vector<Prompt>> read_dataset_file(const std::string& dataset, const std::string& path, const BodyOptions& body);

}  // namespace teapot::workbench
