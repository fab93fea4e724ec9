#include "cli/token_ids.h"

#include <gtest/gtest.h>

#include <array>

#include "base/npy.h"
#include "temporary_folder.h"

namespace teapot::cli {
namespace {

TEST(TokenIds, ReadsNumbersWithCommas) {
  EXPECT_EQ(parse_token_ids("1,2,3").value(), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(parse_token_ids("7").value(), (std::vector<int32_t>{7}));
}

TEST(TokenIds, NamesWhatIsNoId) {
  for (const char* bad : {"", "1,,2", "1,", "1,x", "-1", "1 2", "99999999999"}) {
    const auto ids = parse_token_ids(bad);
    ASSERT_FALSE(ids) << bad;
    EXPECT_EQ(ids.error().kind, ErrorKind::kInvalid);
  }
  EXPECT_NE(parse_token_ids("1,x,3").error().message.find("'x'"), std::string::npos);
}

TEST(TokenIds, ReadsAnArrayFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "ids.npy";
  const std::array<size_t, 1> shape = {3};
  const std::array<int32_t, 3> values = {5, 0, 9};
  ASSERT_TRUE(write_npy(path, shape, std::span<const int32_t>(values)));
  EXPECT_EQ(parse_token_ids("@" + path).value(), (std::vector<int32_t>{5, 0, 9}));
  EXPECT_FALSE(parse_token_ids("@" + folder / "none.npy"));
}

}  // namespace
}  // namespace teapot::cli
