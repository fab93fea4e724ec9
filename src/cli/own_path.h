// Where this program lies: a server of its own is started from there.
#pragma once

#include <string>

#include "base/error.h"

namespace teapot::cli {

Result<std::string> own_path();

}  // namespace teapot::cli
