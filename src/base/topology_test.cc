#include "base/topology.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <algorithm>

namespace teapot {
namespace {

TEST(Topology, PlacesPhysicalCoresBeforeSiblings) {
  const Topology topology{{{{0, 4}, 0}, {{1, 5}, 0}, {{2}, 1}}, 2};
  EXPECT_EQ(topology.cpus(), 5u);
  EXPECT_EQ(topology.place(2), (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(topology.place(5), (std::vector<unsigned>{0, 1, 2, 4, 5}));
  EXPECT_EQ(topology.describe(), "3 cores (5 hardware threads), 2 NUMA nodes");
}

TEST(Topology, OfThisHostHasTheAllowedCpusOnly) {
  const auto topology = read_topology();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  cpu_set_t allowed;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof(allowed), &allowed));
  EXPECT_EQ(topology->cpus(), static_cast<size_t>(CPU_COUNT(&allowed)));
  for (const Core& core : topology->cores) {
    EXPECT_TRUE(std::ranges::all_of(core.cpus, [&](unsigned cpu) { return CPU_ISSET(cpu, &allowed); }));
  }
}

TEST(Topology, FollowsTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
  const auto topology = read_topology();
  ASSERT_EQ(0, sched_setaffinity(0, sizeof(before), &before));
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(topology->cpus(), 1u);
}

}  // namespace
}  // namespace teapot
