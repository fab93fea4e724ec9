#include "engine/draft_probe.h"

#include <gtest/gtest.h>

#include <vector>

namespace teapot::engine {
namespace {

// Plain rounds before each of the next probes, all of which end the same way.
std::vector<int> gaps(DraftProbe& probe, size_t probes, bool held) {
  std::vector<int> out;
  for (int plain = 0; out.size() < probes; ++plain) {
    if (probe.depth(0, 4) == 0) continue;
    probe.observe(held);
    out.push_back(plain);
    plain = -1;
  }
  return out;
}

TEST(DraftProbe, IsRarerAfterEachFailure) {
  DraftProbe probe;
  EXPECT_EQ(gaps(probe, 7, false), (std::vector<int>{16, 32, 64, 128, 256, 256, 256}));
}

TEST(DraftProbe, OneThatHeldIsFollowedByAnother) {
  DraftProbe probe;
  gaps(probe, 4, false);
  EXPECT_EQ(gaps(probe, 3, true), (std::vector<int>{256, 0, 0}));
  EXPECT_EQ(gaps(probe, 3, false), (std::vector<int>{0, 256, 256}));
}

TEST(DraftProbe, BeginsAnewWhenDraftsPay) {
  DraftProbe probe;
  gaps(probe, 4, false);
  EXPECT_EQ(probe.depth(3, 4), 3u);
  probe.observe(false);
  EXPECT_EQ(gaps(probe, 2, false), (std::vector<int>{16, 32}));
}

TEST(DraftProbe, WhoCannotDraftMakesNoProbe) {
  DraftProbe probe;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(probe.depth(0, 0), 0u);
}

}  // namespace
}  // namespace teapot::engine
