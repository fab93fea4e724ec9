#include "base/file.h"

#include <sys/stat.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace teapot {
namespace {

class FileTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
};

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file(folder_ / "x", bytes));
  EXPECT_EQ(*read_file(folder_ / "x"), bytes);
  const auto mapped = MappedFile::open(folder_ / "x");
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->bytes().size(), 4u);
}

size_t resident_pages(std::span<const std::byte> mapped) {
  std::ifstream maps("/proc/self/smaps");
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<uintptr_t>(mapped.data()));
  std::string line;
  while (std::getline(maps, line) && !line.starts_with(begin)) {
  }
  while (std::getline(maps, line) && !line.starts_with("Rss:")) {
  }
  return std::stoul(line.substr(4)) / 4;
}

TEST_F(FileTest, PagesThatAreLetGoAreReadAgainWhenTouched) {
  constexpr size_t kPages = 256;
  std::string bytes(kPages * 4096, 'x');
  bytes.back() = 'y';
  ASSERT_TRUE(write_file(folder_ / "pages", bytes));
  const auto mapped = MappedFile::open(folder_ / "pages");
  ASSERT_TRUE(mapped);
  const auto all = mapped->bytes();
  EXPECT_EQ(std::ranges::count(all, std::byte{'x'}), static_cast<std::ptrdiff_t>(bytes.size() - 1));
  EXPECT_EQ(resident_pages(all), kPages);
  let_go(all.subspan(1, all.size() - 2));
  EXPECT_EQ(resident_pages(all), 2u);
  EXPECT_EQ(all[all.size() - 1], std::byte{'y'});
  EXPECT_EQ(all[4096], std::byte{'x'});
}

TEST_F(FileTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder_ / "pipe", folder_.path(), std::string("/dev/null")}) {
    for (const Error& error : {read_file(path).error(), MappedFile::open(path).error()}) {
      EXPECT_EQ(error.message, path + ": not a regular file");
    }
  }
  EXPECT_EQ(read_file(folder_ / "none").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(MappedFile::open(folder_ / "none").error().kind, ErrorKind::kNotFound);
}

TEST_F(FileTest, ASparseFileCostsNoMemory) {
  ASSERT_TRUE(write_file(folder_ / "sparse", ""));
  std::filesystem::resize_file(folder_ / "sparse", uintmax_t{1} << 40);
  const auto text = read_file(folder_ / "sparse");
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("1099511627776 bytes"), std::string::npos) << text.error().message;
}

}  // namespace
}  // namespace teapot
