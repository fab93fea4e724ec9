#include "base/log_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace teapot::log {
namespace {

void say(LossySink& sink, const std::string& text) { sink.log(spdlog::details::log_msg("test", spdlog::level::info, text)); }

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() {
    close_reader();
    ::close(ends[1]);
  }
  void close_reader() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  // What lies in the pipe, as lines.
  std::vector<std::string> lines() {
    std::string bytes(1 << 20, '\0');
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string all;
    for (ssize_t n = 0; (n = ::read(ends[0], bytes.data(), bytes.size())) > 0;) all.append(bytes.data(), static_cast<size_t>(n));
    std::vector<std::string> found;
    size_t start = 0;
    for (size_t end = 0; (end = all.find('\n', start)) != all.npos; start = end + 1) found.push_back(all.substr(start, end - start));
    return found;
  }
  int ends[2];
};

TEST(LossySink, AFullDiskIsToldOnceAndStopsNobody) {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  std::vector<std::string> complaints;
  LossySink sink(fd, [&](const std::string& reason) { complaints.push_back(reason); });
  for (int i = 0; i < 100; ++i) say(sink, "a line");
  ::close(fd);
  EXPECT_EQ(complaints, std::vector<std::string>{"No space left on device"});
}

TEST(LossySink, APipeThatNobodyReadsLosesLinesAndSaysHowMany) {
  Pipe pipe;
  LossySink sink(pipe.ends[1], nullptr);
  sink.set_pattern("%v");
  constexpr size_t kLines = 5000;
  for (size_t i = 0; i < kLines; ++i) say(sink, fmt::format("line {:04} {}", i, std::string(100, 'x')));
  const std::vector<std::string> before = pipe.lines();
  ASSERT_GT(before.size(), 100u);
  ASSERT_LT(before.size(), kLines);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].starts_with(fmt::format("line {:04} x", i))) << before[i];

  say(sink, "the next");
  EXPECT_EQ(pipe.lines(),
            (std::vector<std::string>{fmt::format("(lines of the log that were lost: {})", kLines - before.size()), "the next"}));
}

TEST(LossySink, ALineThatWasCutDoesNotTouchTheNext) {
  Pipe pipe;
  LossySink sink(pipe.ends[1], nullptr);
  sink.set_pattern("%v");
  say(sink, std::string(1 << 20, 'y'));  // more than a pipe holds
  const size_t whole = pipe.lines().size();
  EXPECT_EQ(whole, 0u);
  say(sink, "the next");
  EXPECT_EQ(pipe.lines(), (std::vector<std::string>{"", "(lines of the log that were lost: 1)", "the next"}));
}

TEST(LossySink, AReaderThatWentAwayRaisesNoSignal) {
  Pipe pipe;
  pipe.close_reader();
  std::vector<std::string> complaints;
  LossySink sink(pipe.ends[1], [&](const std::string& reason) { complaints.push_back(reason); });
  for (int i = 0; i < 10; ++i) say(sink, "a line");
  EXPECT_EQ(complaints, std::vector<std::string>{"Broken pipe"});
}

}  // namespace
}  // namespace teapot::log
