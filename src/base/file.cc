#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace teapot {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

std::unexpected<Error> system_error(const std::string& path) {
  const int code = errno;
  return fail(code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo, "{}: {}", path, std::strerror(code));
}

// O_NONBLOCK: a FIFO without a writer is refused below instead of being waited for. Regular files do not heed it.
constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// Size of a regular file; folders, pipes and devices are errors.
Result<size_t> regular_size(int fd, const std::string& path) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return system_error(path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::kInvalid, "{}: not a regular file", path);
  return static_cast<size_t>(info.st_size);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), kReadOnly)};
  if (file.fd < 0) return system_error(path);
  TEAPOT_TRY(const size_t size, regular_size(file.fd, path));
  if (size > kMaxReadBytes) return fail(ErrorKind::kInvalid, "{}: {} bytes, expected at most {}", path, size, kMaxReadBytes);
  std::string text(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(file.fd, text.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
}

Status write_file(const std::string& path, std::string_view bytes) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0) return system_error(path);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file{::open(path.c_str(), kReadOnly)};
  if (file.fd < 0) return system_error(path);
  TEAPOT_TRY(const size_t size, regular_size(file.fd, path));
  MappedFile mapped;
  mapped.path_ = path;
  if (size == 0) return mapped;
  void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (at == MAP_FAILED) return system_error(path);
  mapped.bytes_ = {static_cast<const std::byte*>(at), size};
  return mapped;
}

void let_go(std::span<const std::byte> mapped) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(mapped.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(mapped.data() + mapped.size()) / page * page;
  // A refusal costs memory, nothing else.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace teapot
