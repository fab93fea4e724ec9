#include <cstdio>

#include "cli/commands.h"

namespace teapot::cli {

int report(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return kExitError;
}

Status write_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return fail(ErrorKind::kIo, "the answer cannot be written");
}

}  // namespace teapot::cli
