#include "base/npy.h"

#include <array>

#include <gtest/gtest.h>

#include "base/file.h"
#include "temporary_folder.h"

namespace teapot {
namespace {

TEST(Npy, WhatIsWrittenIsReadBack) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "f32.npy";
  const std::array<size_t, 2> shape = {2, 3};
  const std::array<float, 6> values = {1.5f, -2, 0, 3e-30f, 4, 5};
  ASSERT_TRUE(write_npy(path, shape, values));
  const auto array = read_npy_f32(path);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->shape, (std::vector<size_t>{2, 3}));
  EXPECT_TRUE(std::equal(values.begin(), values.end(), array->values.begin(), array->values.end()));
  EXPECT_FALSE(read_npy_i32(path));
  const auto file = read_file(path);
  EXPECT_EQ((file->size() - values.size() * 4) % 64, 0u) << "the data must be aligned";
}

TEST(Npy, IntegersAreReadBack) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "i32.npy";
  const std::array<size_t, 1> shape = {3};
  const std::array<int32_t, 3> values = {-1, 0, 2'000'000'000};
  ASSERT_TRUE(write_npy(path, shape, values));
  const auto array = read_npy_i32(path);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_TRUE(std::equal(values.begin(), values.end(), array->values.begin(), array->values.end()));
}

TEST(Npy, BrokenFilesAreErrors) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "bad.npy";
  const std::string good_head("\x93NUMPY\x01\x00\x46\x00", 10);
  const auto dict = [](const std::string& shape) {
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
    text.resize(0x46, ' ');
    return text;
  };
  for (const std::string& bad :
       {std::string(), std::string("\x93NUMPY"), good_head, good_head + dict("(4,)"), good_head + dict("(4,)") + "12345678",
        good_head + dict("(99999999999,99999999999,999)"), good_head + dict("(a,)"), good_head + std::string(0x46, ' ')}) {
    ASSERT_TRUE(write_file(path, bad));
    const auto array = read_npy_f32(path);
    ASSERT_FALSE(array);
    EXPECT_TRUE(array.error().message.starts_with(path)) << array.error().message;
  }
}

}  // namespace
}  // namespace teapot
