#include "base/file.h"

#include <sys/stat.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace teapot {
namespace {

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string path = (std::filesystem::temp_directory_path() / "teapot_test_XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << path;
    folder_ = path;
  }
  ~FileTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string place(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file(place("x"), bytes));
  EXPECT_EQ(*read_file(place("x")), bytes);
  const auto mapped = MappedFile::open(place("x"));
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
  ASSERT_TRUE(write_file(place("pages"), bytes));
  const auto mapped = MappedFile::open(place("pages"));
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
  ASSERT_EQ(mkfifo(place("pipe").c_str(), 0600), 0);
  for (const std::string& path : {place("pipe"), folder_.string(), std::string("/dev/null")}) {
    for (const Error& error : {read_file(path).error(), MappedFile::open(path).error()}) {
      EXPECT_EQ(error.message, path + ": not a regular file");
    }
  }
  EXPECT_EQ(read_file(place("none")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(MappedFile::open(place("none")).error().kind, ErrorKind::kNotFound);
}

TEST_F(FileTest, ASparseFileCostsNoMemory) {
  ASSERT_TRUE(write_file(place("sparse"), ""));
  std::filesystem::resize_file(place("sparse"), uintmax_t{1} << 40);
  const auto text = read_file(place("sparse"));
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("1099511627776 bytes"), std::string::npos) << text.error().message;
}

}  // namespace
}  // namespace teapot
