// Files: whole reads and read-only maps.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"

namespace teapot {

// What is read whole is text or a list of ids. A sparse file's size costs its writer nothing, so it may not cost us memory.
constexpr size_t kMaxReadBytes = size_t{256} << 20;

// The whole file, a regular one of at most kMaxReadBytes. Missing: kNotFound.
Result<std::string> read_file(const std::string& path);
Status write_file(const std::string& path, std::string_view bytes);

// A file mapped read-only. Its bytes stay valid as long as the object lives, wherever it is moved to.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;

  std::string path_;
  std::span<const std::byte> bytes_;
};

// The whole pages within these bytes of a mapped file need not stay resident: they are read again when they are touched. For bytes of a
// MappedFile only, which cannot have been written: other memory would lose what it holds.
void let_go(std::span<const std::byte> mapped);

}  // namespace teapot
