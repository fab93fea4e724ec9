// A place for log lines that may stop taking them: a disk that is full, a pipe that nobody reads. Who logs is neither stopped nor kept
// waiting: what cannot be written at once is lost, and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include <spdlog/sinks/base_sink.h>

namespace teapot::log {

class LossySink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // Called with the system's reason, once in the sink's life, from the thread whose line is the first to be lost. It must not log here.
  using Complain = std::function<void(const std::string& reason)>;

  // fd: open for writing; stays the caller's.
  LossySink(int fd, Complain complain) : fd_(fd), complain_(std::move(complain)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}  // nothing is held back

  // 0, or errno. A part of the bytes may have been written.
  int write(std::string_view bytes);

  int fd_;
  Complain complain_;
  bool told_ = false;
  bool torn_ = false;  // the last line stands there without its end
  uint64_t lost_ = 0;  // lines since the last one that was written
};

}  // namespace teapot::log
