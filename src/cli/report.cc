#include <cstdio>

#include "cli/commands.h"

namespace teapot::cli {

int report(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return kExitError;
}

}  // namespace teapot::cli
