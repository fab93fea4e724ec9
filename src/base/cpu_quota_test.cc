#include "base/cpu_quota.h"

#include <gtest/gtest.h>
#include <filesystem>

#include "base/file.h"
#include "temporary_folder.h"

namespace teapot {
namespace {

class MadeUpGroups : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    ASSERT_TRUE(write_file(root_ / path, text));
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path root_ = folder_.path();
};

TEST_F(MadeUpGroups, NoGroupsNoQuota) { EXPECT_FALSE(read_cpu_quota(root_).has_value()); }

TEST_F(MadeUpGroups, TheTightestOfTheAncestorsCounts) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_cpu_quota(root_).has_value());
  write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  const auto quota = read_cpu_quota(root_);
  ASSERT_TRUE(quota.has_value());
  EXPECT_DOUBLE_EQ(quota->cpus, 1.5);
  EXPECT_EQ(quota->limited_by, (root_ / "sys/fs/cgroup/a/cpu.max").string());
}

TEST_F(MadeUpGroups, Version1HasTwoFiles) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(read_cpu_quota(root_).has_value());
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(root_).value_or(CpuQuota{}).cpus, 0.5);
}

}  // namespace
}  // namespace teapot
