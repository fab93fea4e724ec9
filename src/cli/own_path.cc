#include "cli/own_path.h"

#include <filesystem>
#include <system_error>

namespace teapot::cli {

Result<std::string> own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorKind::kIo, "/proc/self/exe: {}", error.message());
  return path.string();
}

}  // namespace teapot::cli
