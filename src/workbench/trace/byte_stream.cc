#include "workbench/trace/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace teapot::workbench::trace {
namespace {

constexpr size_t kPiece = size_t{256} << 10;
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with gzip's header

}  // namespace

struct ByteStream::State {
  std::string name;
  int fd = -1;
  std::string_view memory;  // where there is no file
  uint64_t stored = 0;
  bool packed = false;
  bool between = false;  // members of a gzip file: the file may end here
  z_stream inflater{};
  std::vector<char> piece;
  std::string ahead;  // unpacked, already read by peek
  size_t ahead_used = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packed) inflateEnd(&inflater);
    if (fd >= 0) close(fd);
  }

  Read<size_t> read_stored(char* out, size_t size) {
    if (fd < 0) {
      const size_t n = std::min(size, memory.size());
      std::copy_n(memory.data(), n, out);
      memory.remove_prefix(n);
      stored += n;
      return n;
    }
    while (true) {
      const ssize_t n = ::read(fd, out, size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return refuse("cannot read", fmt::format("{}: {}", name, std::strerror(errno)));
      stored += static_cast<size_t>(n);
      return static_cast<size_t>(n);
    }
  }

  Read<size_t> unpack(std::span<char> out) {
    inflater.next_out = reinterpret_cast<Bytef*>(out.data());
    inflater.avail_out = static_cast<uInt>(std::min<size_t>(out.size(), size_t{1} << 30));
    const uInt wanted = inflater.avail_out;
    while (inflater.avail_out == wanted) {
      if (inflater.avail_in == 0) {
        TEAPOT_TRY(const size_t n, read_stored(piece.data(), piece.size()));
        if (n == 0) {
          if (between) return size_t{0};
          return refuse("truncated", fmt::format("{}: the packed file ends at byte {}, in the middle of its data", name, stored), {},
                        stored);
        }
        inflater.next_in = reinterpret_cast<Bytef*>(piece.data());
        inflater.avail_in = static_cast<uInt>(n);
      }
      between = false;
      const int code = inflate(&inflater, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between = true;
        inflateReset(&inflater);  // another member may follow
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        const uint64_t at = stored - inflater.avail_in;
        return refuse("malformed", fmt::format("{}: not gzip data at byte {}: {}", name, at, inflater.msg ? inflater.msg : "damaged"), {},
                      at);
      }
    }
    return size_t{wanted - inflater.avail_out};
  }

  // Looks at the first two bytes.
  Read<void> begin() {
    std::array<char, 2> magic{};
    size_t have = 0;
    while (have < magic.size()) {
      TEAPOT_TRY(const size_t n, read_stored(magic.data() + have, magic.size() - have));
      if (n == 0) break;
      have += n;
    }
    if (have < 2 || magic[0] != '\x1f' || magic[1] != '\x8b') {
      ahead.assign(magic.data(), have);
      return {};
    }
    piece.resize(kPiece);
    std::ranges::copy(magic, piece.begin());
    if (inflateInit2(&inflater, kGzipWindow) != Z_OK) return refuse("cannot read", fmt::format("{}: zlib cannot begin", name));
    packed = true;
    inflater.next_in = reinterpret_cast<Bytef*>(piece.data());
    inflater.avail_in = 2;
    return {};
  }
};

ByteStream::ByteStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

const std::string& ByteStream::name() const { return state_->name; }
bool ByteStream::packed() const { return state_->packed; }
uint64_t ByteStream::stored_bytes() const { return state_->stored; }

Read<ByteStream> ByteStream::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->name = path;
  // O_NONBLOCK: a FIFO without a writer is refused below instead of being waited for.
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (state->fd < 0) return refuse("cannot read", fmt::format("{}: {}", path, std::strerror(errno)));
  struct stat info{};
  if (fstat(state->fd, &info) != 0 || !S_ISREG(info.st_mode)) return refuse("cannot read", fmt::format("{}: not a regular file", path));
  TEAPOT_CHECK(state->begin());
  return ByteStream(std::move(state));
}

Read<ByteStream> ByteStream::over(std::string_view bytes, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->memory = bytes;
  TEAPOT_CHECK(state->begin());
  return ByteStream(std::move(state));
}

Read<size_t> ByteStream::read(std::span<char> out) {
  State& state = *state_;
  if (out.empty()) return size_t{0};
  if (state.ahead_used < state.ahead.size()) {
    const size_t n = std::min(out.size(), state.ahead.size() - state.ahead_used);
    std::copy_n(state.ahead.data() + state.ahead_used, n, out.data());
    state.ahead_used += n;
    return n;
  }
  return state.packed ? state.unpack(out) : state.read_stored(out.data(), out.size());
}

Read<std::string> ByteStream::peek(size_t size) {
  State& state = *state_;
  state.ahead.erase(0, state.ahead_used);
  state.ahead_used = 0;
  while (state.ahead.size() < size) {
    std::string more(size - state.ahead.size(), '\0');
    const std::span<char> room(more);
    const Read<size_t> n = state.packed ? state.unpack(room) : state.read_stored(more.data(), more.size());
    if (!n && state.ahead.empty()) return std::unexpected(n.error());
    if (!n || *n == 0) break;  // read() comes to the fault again
    state.ahead.append(more, 0, *n);
  }
  return state.ahead.substr(0, size);
}

}  // namespace teapot::workbench::trace
