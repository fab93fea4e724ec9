#include "cpu/isa.h"

#include <gtest/gtest.h>

namespace teapot::cpu {
namespace {

TEST(SelectKernels, ForcesEachOrSaysWhatIsMissing) {
  for (const char* name : {"scalar", "avx2", "avx512", "avx512vnni", "amx"}) {
    const auto table = select_kernels(name);
    if (table) {
      EXPECT_STREQ((*table)->isa, name);
    } else {
      EXPECT_EQ(table.error().kind, ErrorKind::kUnsupported);
      EXPECT_NE(table.error().message.find(name), std::string::npos);
      EXPECT_NE(table.error().message.find("lacks "), std::string::npos);
    }
  }
}

TEST(SelectKernels, AutoIsTheBestThatWorks) {
  const auto best = select_kernels("auto");
  ASSERT_TRUE(best);
  for (const char* name : {"amx", "avx512vnni", "avx512", "avx2", "scalar"}) {
    if (const auto table = select_kernels(name)) {
      EXPECT_EQ(*best, *table);
      break;
    }
  }
}

TEST(SelectKernels, UnknownNameListsTheKnown) {
  const auto table = select_kernels("neon");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(table.error().message.find("avx512vnni"), std::string::npos);
}

}  // namespace
}  // namespace teapot::cpu
