#include "workbench/whole_file.h"

#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace teapot::workbench {

std::string part_of(const std::string& path) { return path + ".part"; }

Status remove_part(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(part_of(path), error);
  return error ? fail(ErrorKind::kIo, "{}: cannot be removed: {}", part_of(path), error.message()) : Status();
}

Status put_in_place(const std::string& path) {
  std::error_code error;
  std::filesystem::rename(part_of(path), path, error);
  return error ? fail(ErrorKind::kIo, "{}: cannot be made: {}", path, error.message()) : Status();
}

Status write_whole_file(const std::string& path, std::string_view bytes) {
  TEAPOT_CHECK(write_file(part_of(path), bytes));
  return put_in_place(path);
}

}  // namespace teapot::workbench
