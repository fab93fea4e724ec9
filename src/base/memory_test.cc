#include "base/memory.h"

#include <gtest/gtest.h>
#include <filesystem>

#include "base/file.h"
#include "temporary_folder.h"

namespace teapot {
namespace {

// A made-up /proc and /sys with 8 GB, 6 GB of them available.
class MadeUpHost : public ::testing::Test {
 protected:
  MadeUpHost() { write("proc/meminfo", "MemTotal:        8000000 kB\nMemFree:         1000000 kB\nMemAvailable:    6000000 kB\n"); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    ASSERT_TRUE(write_file(root_ / path, text));
  }
  MemoryStatus read() {
    const auto status = read_memory(root_);
    EXPECT_TRUE(status.has_value());
    return status.value_or(MemoryStatus{});
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path root_ = folder_.path();
};

TEST_F(MadeUpHost, WithoutControlGroupsIsTheHost) {
  const MemoryStatus status = read();
  EXPECT_EQ(status.total_bytes, uint64_t{8'000'000} * 1024);
  EXPECT_EQ(status.available_bytes, uint64_t{6'000'000} * 1024);
  EXPECT_EQ(status.limited_by, "host");
}

TEST_F(MadeUpHost, Version2LimitOfAnAncestorCountsAndCacheIsAvailable) {
  write("proc/self/cgroup", "0::/service/teapot\n");
  write("sys/fs/cgroup/service/teapot/memory.max", "max\n");
  write("sys/fs/cgroup/service/teapot/memory.current", "900\n");
  write("sys/fs/cgroup/service/memory.max", "1000000\n");
  write("sys/fs/cgroup/service/memory.current", "700000\n");
  write("sys/fs/cgroup/service/memory.stat", "anon 300000\ninactive_file 350000\nactive_file 50000\n");
  const MemoryStatus status = read();
  EXPECT_EQ(status.total_bytes, 1'000'000u);
  EXPECT_EQ(status.available_bytes, 700'000u);
  EXPECT_NE(status.limited_by.find("service/memory.max"), std::string::npos);
}

TEST_F(MadeUpHost, Version1PathOfTheHostFallsBackToTheMount) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/0123\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "3000000\n");
  const MemoryStatus status = read();
  EXPECT_EQ(status.total_bytes, 2'000'000u);
  EXPECT_EQ(status.available_bytes, 0u);
}

TEST(Memory, OfThisHostIsPlausible) {
  const auto status = read_memory();
  ASSERT_TRUE(status.has_value());
  EXPECT_GT(status->total_bytes, 16u << 20);
  EXPECT_LE(status->available_bytes, status->total_bytes);
}

TEST(Memory, MissingMeminfoIsAnError) { EXPECT_FALSE(read_memory("/nowhere").has_value()); }

}  // namespace
}  // namespace teapot
