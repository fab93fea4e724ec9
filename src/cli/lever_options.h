// A lever's value is what its option on the command line takes: orders of levers are read by the same parser.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/model_options.h"

namespace teapot::cli {

// Puts the value of `--lever` into the options. kInvalid, as the command line would say it, for an option that isn't there or a value that
// it doesn't take.
Status set_lever(ModelOptions& options, const std::string& lever, const std::string& value);

// Whether there is such a lever and it could have such a value, on whatever host.
Status check_lever(const std::string& lever, const std::string& value);

}  // namespace teapot::cli
