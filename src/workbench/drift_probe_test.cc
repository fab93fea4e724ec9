#include "workbench/drift_probe.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

TEST(DriftProbe, ReadsMemoryAtABandwidthThatExists) {
  const auto gbs = probe_read_gbs();
  if (!gbs && gbs.error().kind == ErrorKind::kMemory) GTEST_SKIP() << gbs.error().message;
  ASSERT_TRUE(gbs) << gbs.error().message;
  EXPECT_GT(*gbs, 0.05);
  EXPECT_LT(*gbs, 10'000);
}

}  // namespace
}  // namespace teapot::workbench
