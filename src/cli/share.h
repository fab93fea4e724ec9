// A share as people write it.
#pragma once

#include <string>

#include "base/error.h"

namespace teapot::cli {

// "1%" or "0.01"; from 0 to 10. option: for the message of kInvalid.
Result<double> parse_share(const std::string& option, const std::string& text);

}  // namespace teapot::cli
