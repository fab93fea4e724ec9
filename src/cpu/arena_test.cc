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

TEST(Arena, ReservingTakesNoMemory) { EXPECT_TRUE(Arena::reserve("test", uint64_t{1} << 40, Pages::k4k).has_value()); }

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

}  // namespace
}  // namespace teapot::cpu
