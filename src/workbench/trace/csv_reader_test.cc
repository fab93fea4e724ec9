#include "workbench/trace/csv_reader.h"

#include <gtest/gtest.h>

namespace teapot::workbench::trace {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows(std::string_view text) {
  auto stream = ByteStream::over(text, "t.csv");
  CsvReader reader(*stream);
  Rows result;
  std::vector<std::string> fields;
  while (true) {
    const auto more = reader.next(fields);
    if (!more) return {{more.error().error}};
    if (!*more) return result;
    result.push_back(fields);
  }
}

TEST(CsvReader, TakesQuotesLineEndsAndAByteOrderMark) {
  EXPECT_EQ(rows("a,b\n1,2\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows("\xEF\xBB\xBF"
                 "a,b\r\n1,2\r\n"),
            (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows("\"x,y\",\"\"\"1,2\"\"\"\n"), (Rows{{"x,y", "\"1,2\""}}));
  EXPECT_EQ(rows("\"two\nlines\",z"), (Rows{{"two\nlines", "z"}}));
  EXPECT_EQ(rows("a,,\n\n,b"), (Rows{{"a", "", ""}, {""}, {"", "b"}}));
  EXPECT_EQ(rows("1.5\t,x\n"), (Rows{{"1.5\t", "x"}}));
}

TEST(CsvReader, ALaterShorterRowHasNothingOfTheOneBefore) { EXPECT_EQ(rows("abc,def,ghi\nx\n"), (Rows{{"abc", "def", "ghi"}, {"x"}})); }

TEST(CsvReader, AnOpenQuoteIsTruncation) {
  EXPECT_EQ(rows("a,\"b"), (Rows{{"truncated"}}));
  EXPECT_EQ(rows(""), Rows{});
}

TEST(CsvReader, ARowWithoutEndIsRefused) { EXPECT_EQ(rows(std::string(3 << 20, 'x')), (Rows{{"malformed"}})); }

}  // namespace
}  // namespace teapot::workbench::trace
