#include "workbench/bench/sse_parser.h"

#include <vector>

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;  // type, data

Status feed(SseParser& parser, std::string_view bytes, Events& events) {
  return parser.feed(bytes, [&events](const SseEvent& event) { events.emplace_back(event.type, event.data); });
}

Events whole(std::string_view bytes) {
  SseParser parser;
  Events events;
  EXPECT_TRUE(feed(parser, bytes, events));
  return events;
}

// The same stream with each of the three line ends.
std::vector<std::string> with_line_ends(std::string_view text) {
  std::vector<std::string> texts;
  for (const char* end : {"\n", "\r", "\r\n"}) {
    std::string& out = texts.emplace_back();
    for (const char c : text) out += c == '\n' ? std::string(end) : std::string(1, c);
  }
  return texts;
}

constexpr std::string_view kStream =
    "\xef\xbb\xbf"
    "data: {\"a\": 1}\n\n: a comment\n\ndata:no space\n\ndata:  two\ndata\ndata: lines\nid: 7\nevent: kind\nretry: x\n\n\n\n"
    "event: nothing follows\n\ndata: [DONE]\n\ndata: cut off";

const Events kEvents = {{"", "{\"a\": 1}"}, {"", "no space"}, {"kind", " two\n\nlines"}, {"", "[DONE]"}};

TEST(SseParser, ReadsAllFieldsWithEachLineEnd) {
  for (const std::string& text : with_line_ends(kStream)) EXPECT_EQ(whole(text), kEvents);
}

TEST(SseParser, ASplitAnywhereChangesNothing) {
  for (const std::string& text : with_line_ends(kStream)) {
    for (size_t first = 0; first <= text.size(); ++first) {
      for (size_t second = first; second <= text.size(); ++second) {
        SseParser parser;
        Events events;
        const std::string_view view = text;
        ASSERT_TRUE(feed(parser, view.substr(0, first), events));
        ASSERT_TRUE(feed(parser, view.substr(first, second - first), events));
        ASSERT_TRUE(feed(parser, view.substr(second), events));
        ASSERT_EQ(events, kEvents) << "split at " << first << " and " << second;
      }
    }
    SseParser parser;
    Events events;
    for (const char& c : text) ASSERT_TRUE(feed(parser, {&c, 1}, events));
    EXPECT_EQ(events, kEvents);
  }
}

TEST(SseParser, AnEventIsToldWithTheByteThatEndsIt) {
  SseParser parser;
  Events events;
  ASSERT_TRUE(feed(parser, "data: x\r\n\r", events));
  EXPECT_EQ(events.size(), 1u);
  ASSERT_TRUE(feed(parser, "\ndata: y\n\n", events));
  EXPECT_EQ(events, (Events{{"", "x"}, {"", "y"}}));
}

TEST(SseParser, MemoryIsBounded) {
  const std::string long_line(101, 'x');
  for (const std::string& bytes : {"data: " + long_line, std::string(":") + long_line, long_line + "\n"}) {
    SseParser parser(100);
    Events events;
    const Status status = feed(parser, bytes, events);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::kInvalid);
  }
  SseParser parser(100);
  Events events;
  Status status;
  for (int i = 0; i < 60 && status; ++i) status = feed(parser, "data: x\n", events);
  EXPECT_FALSE(status) << "lines are short, but their event is long";
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace teapot::workbench
