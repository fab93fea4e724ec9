#include "text/stop_strings.h"

#include <algorithm>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "base/json.h"
#include "test_data.h"

namespace teapot::text {
namespace {

StopStrings make(std::vector<std::string> stops, bool include = false) {
  Result<StopStrings> made = StopStrings::create(std::move(stops), include);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

TEST(StopStrings, GoldenCases) {
  std::ifstream file(testing::test_data("text/stop.jsonl"));
  std::string line;
  int cases = 0;
  for (; std::getline(file, line); ++cases) {
    const Json expected = Json::parse(line);
    StopStrings stops = make(expected["stop"], expected["include_stop_str_in_output"]);
    Json emitted = Json::array();
    std::string text;
    for (const std::string piece : expected["pieces"]) {
      const StopStrings::Piece got = stops.push(piece);
      emitted.push_back(got.emitted);
      text += got.emitted;
      if (got.matched) break;
    }
    const StopStrings::Finish finish = stops.finish(expected["end"] == "length" ? StopStrings::End::kLength : StopStrings::End::kEos);
    EXPECT_EQ(emitted, expected["emitted"]) << line;
    EXPECT_EQ(Json(finish.flush), expected["flush"]) << line;
    EXPECT_EQ(Json(text + finish.flush), expected["text"]) << line;
    EXPECT_EQ(Json(finish.finish_reason), expected["finish_reason"]) << line;
    EXPECT_EQ(finish.matched ? Json(*finish.matched) : Json(), expected["matched"]) << line;
    EXPECT_EQ(Json(emitted.size()), expected["pieces_used"]) << line;
  }
  EXPECT_EQ(cases, 250);
}

TEST(StopStrings, AnEmptyOneIsRefusedByItsPlace) {
  const auto made = StopStrings::create({"a", ""}, false);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().message.starts_with("stop[1]: ")) << made.error().message;
}

TEST(StopStrings, NothingIsEmittedAfterTheMatch) {
  StopStrings stops = make({"."});
  EXPECT_EQ(stops.push("a.b").emitted, "a");
  EXPECT_TRUE(stops.matched());
  EXPECT_EQ(stops.push("c.d").emitted, "");
  EXPECT_EQ(stops.finish(StopStrings::End::kLength).flush, "");
}

// By the definition: after each byte, does the text end in a stop string; which ends of it are proper prefixes of one?
TEST(StopStrings, EqualsTheDefinitionForAllTextsAndCuts) {
  std::mt19937 rng(5);
  const auto word = [&rng](size_t low, size_t high) {
    std::string result(low + rng() % (high - low + 1), 'a');
    for (char& c : result) c = static_cast<char>('a' + rng() % 2);
    return result;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> list(1 + rng() % 4);
    for (std::string& stop : list) stop = word(1, 7);
    const bool include = rng() % 2;
    StopStrings stops = make(list, include);
    std::string text;
    std::string sent;
    bool done = false;
    while (!done && text.size() < 40) {
      const std::string piece = word(0, 5);
      std::string cut;
      for (const char c : piece) {
        text += c;
        const std::string* best = nullptr;
        for (const std::string& stop : list) {
          if (text.ends_with(stop) && (best == nullptr || stop.size() > best->size())) best = &stop;
        }
        if (best != nullptr) {
          done = true;
          cut = *best;
          break;
        }
      }
      size_t held = include ? 0 : cut.size();
      for (const std::string& stop : list) {
        for (size_t n = 1; n < stop.size() && !done; ++n) {
          if (text.ends_with(stop.substr(0, n))) held = std::max(held, n);
        }
      }
      const StopStrings::Piece got = stops.push(piece);
      sent += got.emitted;
      ASSERT_EQ(sent, text.substr(0, text.size() - held)) << text;
      ASSERT_EQ(got.matched.value_or(""), cut);
    }
    if (!done) {
      ASSERT_EQ(sent + stops.finish(StopStrings::End::kEos).flush, text);
    }
  }
}

// Quadratic work would take hours here.
TEST(StopStrings, LongStopStringsAndLongTextsAreLinear) {
  const size_t n = 500'000;
  StopStrings stops = make({std::string(n, 'a') + "b", std::string(n / 2, 'a') + "c", "x" + std::string(n, 'a')});
  size_t emitted = 0;
  for (size_t i = 0; i < 2 * n; ++i) emitted += stops.push("a").emitted.size();
  EXPECT_EQ(emitted, n);
  const StopStrings::Piece last = stops.push("b");
  EXPECT_EQ(last.emitted, "");
  EXPECT_TRUE(last.matched);
}

}  // namespace
}  // namespace teapot::text
