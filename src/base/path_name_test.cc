#include "base/path_name.h"

#include <gtest/gtest.h>

namespace teapot {
namespace {

TEST(PathName, WithAndWithoutASlashAtTheEnd) {
  for (const char* path : {"a/Qwen3.5", "a/Qwen3.5/", "a/Qwen3.5//", "a/Qwen3.5/.", "Qwen3.5"}) {
    EXPECT_EQ(name_of_path(path), "Qwen3.5") << path;
    EXPECT_EQ(name_of_model(path), "Qwen3.5") << path;
  }
}

TEST(PathName, OfAModelWithoutItsKind) {
  EXPECT_EQ(name_of_path("a/demo.gguf"), "demo.gguf");
  EXPECT_EQ(name_of_model("a/demo.gguf"), "demo");
}

}  // namespace
}  // namespace teapot
