#include "base/file.h"

#include <sys/stat.h>
#include <cstdlib>
#include <filesystem>

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
