#include "engine/draft_gain.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

// Of `rounds` rounds, those that rested; a drafted one makes `tokens` in `ms`, a plain one takes 10 ms.
uint32_t rested(DraftGain& gain, uint32_t rounds, double tokens, double ms) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < rounds; ++i) {
    if (gain.rests()) {
      ++count;
      gain.plain(10);
    } else {
      gain.drafted(tokens, ms);
    }
  }
  return count;
}

TEST(DraftGain, WhatPaysRestsOnlyToSeeAPlainRound) {
  DraftGain gain;
  gain.plain(10);
  EXPECT_EQ(rested(gain, 65 * 20, 1.5, 12), 20u);
}

TEST(DraftGain, WhatDoesNotPayRestsLongerAndLonger) {
  DraftGain gain;
  gain.plain(10);
  EXPECT_EQ(rested(gain, 12 + 32, 1.1, 11.5), 32u);
  EXPECT_EQ(rested(gain, 12 + 64, 1.1, 11.5), 64u);
  EXPECT_EQ(rested(gain, 12 + 128, 1.1, 11.5), 128u);
  EXPECT_GT(rested(gain, 20'000, 1.1, 11.5), 19'700u);
}

TEST(DraftGain, WhatPaysAgainIsForgiven) {
  DraftGain gain;
  gain.plain(10);
  rested(gain, 12 + 32 + 12 + 64, 1, 12);
  rested(gain, 100, 1.6, 12);
  uint32_t until = 0;
  while (rested(gain, 1, 1, 15) == 0) ++until;
  EXPECT_LT(until, 30u);
  EXPECT_EQ(rested(gain, 31, 1, 15), 31u);
  EXPECT_EQ(rested(gain, 12, 1, 15), 0u);
}

TEST(DraftGain, ASlowerHostIsNotTheDraftsFault) {
  DraftGain gain;
  gain.plain(10);
  uint32_t plain = 0;
  for (int i = 0; i < 65 * 20; ++i) {  // a half slower from now on, drafts still pay
    if (gain.rests()) {
      ++plain;
      gain.plain(15);
    } else {
      gain.drafted(1.5, 18);
    }
  }
  EXPECT_LE(plain, 24u) << "4 to find out, and one in 64";
}

TEST(DraftGain, ADoubtEndsWhereNoRoundTellsAnything) {
  DraftGain gain;
  gain.plain(10);
  for (int i = 0; i < 12; ++i) gain.drafted(1, 12);
  uint32_t plain = 0;
  while (gain.rests()) ++plain;  // beside a prompt: no figures
  EXPECT_EQ(plain, 32u);
}

TEST(DraftGain, NothingIsSaidBeforeAPlainRoundWasSeen) {
  DraftGain gain;
  EXPECT_EQ(rested(gain, 64, 1, 100), 0u);
  EXPECT_EQ(rested(gain, 1, 1, 100), 1u);
}

}  // namespace
}  // namespace teapot::engine
