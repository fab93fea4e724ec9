#include "cpu/placement.h"

#include <gtest/gtest.h>

namespace teapot::cpu {
namespace {

// Two nodes of two cores with two hardware threads each.
const Topology kTwoNodes{{{{0, 4}, 0}, {{1, 5}, 0}, {{2, 6}, 1}, {{3, 7}, 1}}, 2};

Placement placed(size_t workers, Bind bind) {
  auto placement = place(kTwoNodes, workers, bind);
  EXPECT_TRUE(placement.has_value());
  return *std::move(placement);
}

TEST(Placement, OffBindsNobody) {
  const Placement placement = placed(100, Bind::kOff);
  EXPECT_TRUE(placement.cpus.empty());
  EXPECT_EQ(placement.distinct_cpus, 8u);
}

TEST(Placement, CoresFirstThenTheirSiblings) {
  EXPECT_EQ(placed(5, Bind::kCore).cpus, (std::vector<CpuList>{{0}, {1}, {2}, {3}, {4}}));
  EXPECT_EQ(placed(3, Bind::kCore).text, "cpus 0-2");
}

TEST(Placement, AWorkerMayRunAnywhereOnItsNode) {
  const Placement placement = placed(3, Bind::kNuma);
  EXPECT_EQ(placement.cpus, (std::vector<CpuList>{{0, 1, 4, 5}, {0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(placement.text, "2 on node 0 (cpus 0-1,4-5), 1 on node 1 (cpus 2-3,6-7)");
}

TEST(Placement, MoreThanTheProcessorsIsAnErrorThatSaysHowMany) {
  const auto placement = place(kTwoNodes, 9, Bind::kCore);
  ASSERT_FALSE(placement.has_value());
  EXPECT_EQ(placement.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(placement.error().message.find("9"), std::string::npos);
}

}  // namespace
}  // namespace teapot::cpu
