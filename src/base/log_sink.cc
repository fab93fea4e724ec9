#include "base/log_sink.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include <fmt/format.h>

namespace teapot::log {

int LossySink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd entry{fd_, POLLOUT, 0};
    if (::poll(&entry, 1, 0) < 0 && errno != EINTR) return errno;
    if ((entry.revents & POLLERR) != 0) return EPIPE;  // writing would raise SIGPIPE
    if ((entry.revents & POLLOUT) == 0) return EAGAIN;
    // A pipe that is ready takes so many bytes without blocking.
    const ssize_t n = ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      torn_ = !bytes.empty();
    }
  }
  return 0;
}

void LossySink::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  if (torn_) line.push_back('\n');
  if (lost_ > 0) fmt::format_to(std::back_inserter(line), "(lines of the log that were lost: {})\n", lost_);
  formatter_->format(message, line);
  const int error = write({line.data(), line.size()});
  if (error == 0) {
    lost_ = 0;
    return;
  }
  ++lost_;
  if (!std::exchange(told_, true) && complain_) complain_(std::generic_category().message(error));
}

}  // namespace teapot::log
