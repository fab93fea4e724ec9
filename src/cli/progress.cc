#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace teapot::cli {

namespace {

std::string bar(double share) {
  constexpr size_t kWidth = 30;
  const auto full = static_cast<size_t>(share * kWidth);
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(kWidth - full, '.'));
}

}  // namespace

std::string progress_line(uint64_t done_bytes, uint64_t total_bytes, double seconds) {
  const double share = total_bytes == 0 ? 1 : static_cast<double>(done_bytes) / static_cast<double>(total_bytes);
  std::string line =
      fmt::format("{} {:5.2f} of {:.2f} GB", bar(share), static_cast<double>(done_bytes) * 1e-9, static_cast<double>(total_bytes) * 1e-9);
  if (seconds > 0 && done_bytes > 0) {
    const double rate = static_cast<double>(done_bytes) / seconds;
    line += fmt::format(", {:.2f} GB/s, {:.0f} s left", rate * 1e-9, static_cast<double>(total_bytes - done_bytes) / rate);
  }
  return line;
}

ProgressBar::ProgressBar(std::string what) : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

bool ProgressBar::is_time(Clock::time_point now) {
  if (!terminal_ || (drawn_ && now - last_ < std::chrono::milliseconds(100))) return false;
  drawn_ = true;
  last_ = now;
  return true;
}

void ProgressBar::update(double share, const std::string& words) {
  if (!is_time(Clock::now())) return;
  fmt::print(stderr, "\r{} {} {}\x1b[K", what_, bar(share), words);
  std::fflush(stderr);
}

void ProgressBar::update(uint64_t done_bytes, uint64_t total_bytes) {
  const auto now = Clock::now();
  if (!is_time(now)) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r{} {}\x1b[K", what_, progress_line(done_bytes, total_bytes, seconds));
  std::fflush(stderr);
}

}  // namespace teapot::cli
