#include "cpu/arena.h"

#include <gtest/gtest.h>

namespace teapot::cpu {
namespace {

TEST(Arena, IsZeroWritableAndAligned) {
  for (const Pages pages : {Pages::k4k, supported_pages(Pages::kThp).active}) {
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, uint64_t{5} << 20}) {
      auto arena = Arena::reserve("test", bytes, pages);
      ASSERT_TRUE(arena.has_value()) << arena.error().message;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % 4096, 0u);
      EXPECT_EQ(arena->data()[bytes - 1], std::byte{0});
      arena->data()[bytes - 1] = std::byte{1};
      const Arena moved = *std::move(arena);
      EXPECT_EQ(moved.data()[bytes - 1], std::byte{1});
      EXPECT_EQ(moved.bytes(), bytes);
    }
  }
}

// A quarter of a TiB: more than memory, and what ThreadSanitizer has addresses for.
TEST(Arena, ReservingTakesNoMemory) { EXPECT_TRUE(Arena::reserve("test", uint64_t{1} << 38, Pages::k4k).has_value()); }

TEST(Arena, MoreThanTheAddressSpaceIsAnError) {
  const auto arena = Arena::reserve("weights", ~uint64_t{0} - 10, Pages::k4k);
  ASSERT_FALSE(arena.has_value());
  EXPECT_EQ(arena.error().kind, ErrorKind::kMemory);
  EXPECT_NE(arena.error().message.find("weights"), std::string::npos);
}

TEST(Arena, ReportsWhyNotHuge) {
  EXPECT_EQ(supported_pages(Pages::k4k).reason, "");
  const PagesReport report = supported_pages(Pages::kThp);
  EXPECT_EQ(report.active == Pages::kThp, report.reason.empty());
}

// Either the pages are there, or the error says how many are.
TEST(Arena, PagesOfAPoolAreGivenOrCounted) {
  for (const Pages pages : {Pages::k2m, Pages::k1g}) {
    const auto arena = Arena::reserve("weights", uint64_t{1} << 30, pages);
    if (arena) {
      EXPECT_TRUE(arena->pooled());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % (2u << 20), 0u);
    } else {
      EXPECT_EQ(arena.error().kind, ErrorKind::kMemory);
      EXPECT_NE(arena.error().message.find(name(pages)), std::string::npos);
      EXPECT_NE(arena.error().message.find("hugepages-"), std::string::npos) << arena.error().message;
    }
  }
}

TEST(Arena, BestIsWhateverCanBeHad) {
  const auto arena = Arena::reserve("weights", uint64_t{64} << 20, Pages::kBest);
  ASSERT_TRUE(arena.has_value()) << arena.error().message;
  EXPECT_NE(arena->pages(), Pages::kBest);
  arena->data()[0] = std::byte{1};
  const auto usage = arena->usage();
  ASSERT_TRUE(usage.has_value()) << usage.error().message;
  EXPECT_GE(usage->resident_bytes, 4096u);
}

TEST(Arena, SmallPagesStaySmall) {
  const auto arena = Arena::reserve("test", uint64_t{16} << 20, Pages::k4k);
  ASSERT_TRUE(arena.has_value());
  for (uint64_t at = 0; at < arena->bytes(); at += 4096) arena->data()[at] = std::byte{1};
  const auto usage = arena->usage();
  ASSERT_TRUE(usage.has_value()) << usage.error().message;
  EXPECT_GE(usage->resident_bytes, uint64_t{16} << 20);
  EXPECT_EQ(usage->huge_bytes, 0u);
}

TEST(PageUsage, SumsTheMappingsOfARange) {
  constexpr std::string_view kSmaps =
      "10000-20000 rw-p 00000000 00:00 0 \nSize:  64 kB\nRss:   8 kB\nAnonHugePages:   0 kB\n"
      "20000-40000 rw-p 00000000 00:00 0 \nRss:      128 kB\nAnonHugePages:    64 kB\nVmFlags: rd wr\n"
      "40000-50000 rw-p 00000000 00:00 0 \nRss:        0 kB\nPrivate_Hugetlb:    32 kB\n"
      "50000-60000 r--p 00000000 08:01 7  /lib/x\nRss:       99 kB\n";
  const PageUsage usage = sum_smaps(kSmaps, 0x20000, 0x50000);
  EXPECT_EQ(usage.resident_bytes, 160u * 1024);
  EXPECT_EQ(usage.huge_bytes, 96u * 1024);
  EXPECT_EQ(sum_smaps("", 0, 1).resident_bytes, 0u);
}

}  // namespace
}  // namespace teapot::cpu
