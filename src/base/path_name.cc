#include "base/path_name.h"

#include <filesystem>

namespace teapot {

std::string name_of_path(const std::string& path) {
  const std::filesystem::path parts = std::filesystem::path(path).lexically_normal();
  return (parts.has_filename() ? parts : parts.parent_path()).filename().string();
}

std::string name_of_model(const std::string& path) {
  constexpr std::string_view kSuffix = ".gguf";
  const std::string name = name_of_path(path);
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

}  // namespace teapot
