#include "cli/json_lines.h"

#include <sstream>

#include <gtest/gtest.h>

namespace teapot::cli {
namespace {

std::string answers(const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out;
  const Status done = for_each_json_line(in, out, [](const Json& line) -> Result<Json> {
    if (!line.is_object()) return fail(ErrorKind::kInvalid, "not an object");
    return line;
  });
  EXPECT_TRUE(done);
  return out.str();
}

TEST(JsonLines, OneAnswerALineInOrder) { EXPECT_EQ(answers("{\"b\": 1, \"a\": \"\\u00e9\"}\n{}\n"), "{\"b\":1,\"a\":\"é\"}\n{}\n"); }

TEST(JsonLines, LastLineNeedsNoLineBreak) { EXPECT_EQ(answers("{}"), "{}\n"); }

TEST(JsonLines, ABadLineAnswersAndTheRestGoesOn) {
  std::istringstream lines(answers("{\n\n[1]\n{\"ok\":1}\n"));
  for (const char* start : {"{\"error\":\"line 1: ", "{\"error\":\"line 2: ", "{\"error\":\"not an object\"}", "{\"ok\":1}"}) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(line.starts_with(start)) << line;
  }
}

TEST(JsonLines, SaysWhenNobodyReads) {
  std::istringstream in("{}\n");
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(for_each_json_line(in, out, [](const Json& line) -> Result<Json> { return line; }));
}

}  // namespace
}  // namespace teapot::cli
