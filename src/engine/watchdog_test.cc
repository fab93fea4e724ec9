#include "engine/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>

namespace teapot::engine {
namespace {

struct Stalls : EngineObserver {
  void on_step(const StepRecord&) override {}
  void on_prompt(const PromptRecord&) override {}
  void on_token(double) override {}
  void on_reply(const ReplyRecord&) override {}
  void on_stall(double seconds) override {
    last = seconds;
    ++count;
  }
  std::atomic<int> count = 0;
  std::atomic<double> last = 0;
};

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

TEST(Watchdog, ReportsALongStepOnce) {
  std::atomic<int64_t> began = now();
  const auto stalls = std::make_shared<Stalls>();
  const Watchdog watchdog(0.02, began, stalls);
  while (stalls->count == 0) std::this_thread::yield();
  EXPECT_GE(stalls->last, 0.02);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(stalls->count, 1);
  began = now();
  while (stalls->count == 1) std::this_thread::yield();
}

TEST(Watchdog, SaysNothingOfShortStepsAndOfNone) {
  std::atomic<int64_t> began = 0;
  const auto stalls = std::make_shared<Stalls>();
  const Watchdog watchdog(0.5, began, stalls);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  while (std::chrono::steady_clock::now() < end) began = now();
  began = 0;
  EXPECT_EQ(stalls->count, 0);
}

TEST(Watchdog, WithoutATimeoutThereIsNoThread) {
  std::atomic<int64_t> began = 1;
  const auto stalls = std::make_shared<Stalls>();
  {
    const Watchdog watchdog(0, began, stalls);
  }
  EXPECT_EQ(stalls->count, 0);
}

}  // namespace
}  // namespace teapot::engine
