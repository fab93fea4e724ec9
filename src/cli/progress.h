// A progress bar on stderr, if it is a terminal: bytes, GB/s, time left, or what its owner counts. Nothing is written otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace teapot::cli {

class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();  // wipes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Cheap enough for every piece: draws ten times a second at most.
  void update(uint64_t done_bytes, uint64_t total_bytes);
  // The same with words of one's own behind the bar. share: done of all, 0 to 1.
  void update(double share, const std::string& words);

 private:
  using Clock = std::chrono::steady_clock;

  bool is_time(Clock::time_point now);

  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

// "[##########..........]  1.23 of 2.46 GB, 1.9 GB/s, 1 s left"
std::string progress_line(uint64_t done_bytes, uint64_t total_bytes, double seconds);

}  // namespace teapot::cli
