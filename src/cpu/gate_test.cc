#include "cpu/gate.h"

#include <gtest/gtest.h>
#include <chrono>
#include <thread>
#include <vector>

namespace teapot::cpu {
namespace {

class GateWaits : public testing::TestWithParam<Wait> {};

TEST_P(GateWaits, OpensWithTheLastPieceAndShowsAllOfThem) {
  constexpr uint32_t kPieces = 3;
  Gate gate({GetParam(), 1000});
  for (int round = 1; round <= 50; ++round) {
    std::vector<int> pieces(kPieces);  // plain ints: the gate must publish them
    int sum = 0;
    std::atomic<int> lasts = 0;
    {
      std::jthread reader([&] {
        gate.pass();
        EXPECT_EQ(sum, static_cast<int>(kPieces) * round);
      });
      std::jthread first([&] {
        for (size_t i = 0; i + 1 < kPieces; ++i) {
          pieces[i] = round;
          EXPECT_FALSE(gate.done(kPieces, [] { FAIL(); }));
        }
      });
      first.join();
      pieces[kPieces - 1] = round;
      if (gate.done(kPieces, [&] {
            for (const int piece : pieces) sum += piece;
          })) {
        lasts.fetch_add(1);
      }
    }
    EXPECT_EQ(lasts.load(), 1);
    gate.close();
  }
}

TEST_P(GateWaits, ALatePieceWakesTheSleepers) {
  Gate gate({GetParam(), 1000});
  std::jthread waiting([&] { gate.pass(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(gate.done(1, [] {}));
}

INSTANTIATE_TEST_SUITE_P(All, GateWaits, testing::Values(Wait::kFutex, Wait::kSpin, Wait::kSpinFutex));

}  // namespace
}  // namespace teapot::cpu
