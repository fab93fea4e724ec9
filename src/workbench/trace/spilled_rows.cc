#include "workbench/trace/spilled_rows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>

namespace teapot::workbench::trace {
namespace {

constexpr size_t kFirst = size_t{64} << 10;
constexpr size_t kMostAtOnce = size_t{256} << 20;

std::byte* map(size_t bytes, int file) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

int nameless_file() {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) return -1;
  std::string path = folder + "/teapot-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) unlink(path.c_str());
  return file;
}

}  // namespace

SpilledBytes& SpilledBytes::operator=(SpilledBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(file_, other.file_);
  return *this;
}

SpilledBytes::~SpilledBytes() { drop(); }

void SpilledBytes::drop() {
  if (data_ != nullptr) munmap(data_, capacity_);
  if (file_ >= 0) close(file_);
  data_ = nullptr;
  capacity_ = 0;
  file_ = -1;
}

void SpilledBytes::grow(size_t bytes) {
  size_t wanted = std::max(kFirst, capacity_);
  while (wanted < bytes) wanted += std::min(wanted, kMostAtOnce);
  if (wanted <= kInMemory || !to_file(wanted)) to_memory(wanted);
}

// Room is taken before it is written to: a mapped file that finds none later ends the process.
bool SpilledBytes::to_file(size_t bytes) {
  const int file = file_ >= 0 ? file_ : nameless_file();
  const bool has_room = file >= 0 && posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
  std::byte* const memory = has_room ? map(bytes, file) : nullptr;
  if (memory == nullptr) {
    if (file >= 0 && file != file_) close(file);
    return false;
  }
  if (file_ < 0 && data_ != nullptr) std::memcpy(memory, data_, capacity_);
  if (data_ != nullptr) munmap(data_, capacity_);
  data_ = memory;
  capacity_ = bytes;
  file_ = file;
  return true;
}

void SpilledBytes::to_memory(size_t bytes) {
  std::byte* const memory = map(bytes, -1);
  if (memory == nullptr) throw std::bad_alloc();
  if (data_ != nullptr) std::memcpy(memory, data_, capacity_);
  drop();
  data_ = memory;
  capacity_ = bytes;
}

void SpilledBytes::let_go(size_t from, size_t to) const {
  if (file_ < 0) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t first = (from + page - 1) / page * page, last = to / page * page;
  if (first < last) madvise(data_ + first, last - first, MADV_DONTNEED);
}

}  // namespace teapot::workbench::trace
