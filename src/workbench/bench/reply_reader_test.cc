// Replies as bytes: what becomes of them, and that no cut of them changes it.
#include "workbench/bench/reply_reader.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

std::string with_length(int status, const std::string& type, const std::string& body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", status, type, body.size(), body);
}

std::string until_close(const std::string& type, const std::string& body) {
  return fmt::format("HTTP/1.0 200 OK\r\ncontent-type: {}\r\n\r\n{}", type, body);
}

// A chunk an event, as servers send them.
std::string chunked(const std::string& body) {
  std::string out = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (size_t start = 0; start < body.size();) {
    const size_t end = std::min(body.find("\n\n", start), body.size() - 2) + 2;
    out += fmt::format("{:x}\r\n{}\r\n", end - start, body.substr(start, end - start));
    start = end;
  }
  return out + "0\r\n\r\n";
}

const std::string kEvents =
    ": hello\n\n"
    "data: {\"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", \"content\": \"\"}, \"finish_reason\": null}]}\n\n"
    "data: {\"choices\": [{\"delta\": {\"reasoning_content\": \"hm\"}}], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 1}}\n\n"
    "data: {\"choices\": [{\"delta\": {\"content\": \"a\xc3\xa4\"}}], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 4}}\n\n"
    "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}], \"timings\": {\"speculation\": {\"drafted\": 6, \"accepted\": "
    "3}}}\n\n"
    "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 5, \"prompt_tokens_details\": {\"cached_tokens\": "
    "2}}}\n\n"
    "data: [DONE]\n\n";

struct Given {
  std::string bytes;
  bool closes = false;  // the server ends the connection after them
  bool stream = true;
};

// Cut in three; each piece is read one nanosecond after the other.
RequestRecord read(const Given& given, size_t first, size_t second, const LoadRequest& expected = {}) {
  RequestRecord record;
  LoadRequest request = expected;
  request.stream = given.stream;
  ReplyReader reader(request, true, record);
  const std::string_view bytes = given.bytes;
  int64_t now = 100;
  for (const std::string_view piece : {bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)}) {
    if (!piece.empty()) reader.feed(piece, now);
    ++now;
  }
  if (given.closes) reader.end_of_stream(now, "closed");
  if (!reader.done()) reader.give_up(Outcome::kStalled, "the test waits no longer", now);
  EXPECT_TRUE(reader.done());
  return record;
}

RequestRecord read(const Given& given) { return read(given, given.bytes.size(), given.bytes.size()); }

void expect_the_reply(const RequestRecord& record) {
  ASSERT_EQ(record.outcome, Outcome::kOk) << record.error;
  EXPECT_EQ(record.status, 200);
  EXPECT_EQ(record.content, "a\xc3\xa4");
  EXPECT_EQ(record.reasoning, "hm");
  EXPECT_EQ(record.finish_reason, "stop");
  ASSERT_EQ(record.chunks.size(), 2u);
  EXPECT_EQ(record.chunks[0].tokens, 1u);
  EXPECT_EQ(record.chunks[1].tokens, 3u);
  EXPECT_EQ(record.first_ns, record.chunks[0].at_ns);
  EXPECT_LE(record.chunks[0].at_ns, record.chunks[1].at_ns);
  EXPECT_LE(record.chunks[1].at_ns, record.last_ns);
  EXPECT_LE(record.last_ns, record.end_ns);
  EXPECT_EQ(record.prompt_tokens, 7u);
  EXPECT_EQ(record.completion_tokens, 5u);
  EXPECT_EQ(record.cached_tokens, 2u);
  EXPECT_EQ(record.drafted, 6u);
  EXPECT_EQ(record.accepted, 3u);
}

TEST(ReplyReader, NoCutChangesAStream) {
  const std::string type = "text/event-stream";
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
  for (const Given& given : {Given{chunked(kEvents)}, Given{with_length(200, type, kEvents)}, Given{until_close(type, kEvents), true},
                             Given{interim + chunked(kEvents)}}) {
    for (size_t cut = 0; cut <= given.bytes.size(); ++cut) expect_the_reply(read(given, cut, std::min(cut + 3, given.bytes.size())));
    RequestRecord record;
    LoadRequest request;
    ReplyReader reader(request, true, record);
    for (const char& byte : given.bytes) reader.feed({&byte, 1}, 1);
    if (given.closes) reader.end_of_stream(2, "closed");
    expect_the_reply(record);
  }
}

TEST(ReplyReader, TimesAreThoseOfTheReadsThatBroughtTheEvents) {
  const std::string bytes = with_length(200, "text/event-stream", kEvents);
  const size_t reasoning = bytes.find("reasoning_content");
  const size_t content = bytes.find("\"a\xc3");
  const RequestRecord record = read({bytes}, reasoning, content);
  EXPECT_EQ(record.first_ns, 101);
  EXPECT_EQ(record.chunks[1].at_ns, 102);
  EXPECT_EQ(record.last_ns, 102);
}

TEST(ReplyReader, AReplyThatIsNoStream) {
  const std::string body =
      R"({"choices": [{"message": {"role": "assistant", "content": "yes", "reasoning": "hm"}, "finish_reason": "length"}],
          "usage": {"prompt_tokens": 3, "completion_tokens": 2}})";
  const RequestRecord record = read({with_length(200, "application/json", body), false, false});
  ASSERT_EQ(record.outcome, Outcome::kOk) << record.error;
  EXPECT_EQ(record.content, "yes");
  EXPECT_EQ(record.reasoning, "hm");
  EXPECT_TRUE(record.chunks.empty());
  EXPECT_EQ(record.first_ns, 0);
  EXPECT_EQ(record.last_ns, record.end_ns);
}

TEST(ReplyReader, AToolCallIsAFirstToken) {
  const std::string events =
      "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0}]}}]}\n\n"
      "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"tool_calls\"}]}\n\n";
  const RequestRecord record = read({chunked(events)});
  EXPECT_EQ(record.outcome, Outcome::kOk) << record.error;
  EXPECT_EQ(record.chunks.size(), 1u);
  EXPECT_EQ(record.chunks[0].tokens, 0u) << "the server does not tell";
}

TEST(ReplyReader, OnlyTokensAndTheEndAreProgress) {
  RequestRecord record;
  LoadRequest request;
  ReplyReader reader(request, true, record);
  int64_t now = 0;
  int64_t progress = 0;
  const std::string event = "data: {\"choices\": [{\"delta\": ";
  const std::vector<std::pair<std::string, bool>> pieces = {
      {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", false},
      {": ping\n\n", false},
      {event + "{\"role\": \"assistant\", \"content\": \"\"}}]}\n\n", false},
      {event, false},
      {"{\"reasoning\": \"hm\"}}]}\n\n", true},
      {event + "{\"content\": \"\"}}]}\n\n", false},
      {event + "{\"content\": \"\"}}], \"usage\": {\"prompt_tokens\": 1, \"completion_tokens\": 2}}\n\n", true},
      {event + "{\"content\": \"a\"}}]}\n\n", true},
      {event + "{\"tool_calls\": [{\"index\": 0}]}}]}\n\n", true},
      {event + "{}, \"finish_reason\": \"stop\"}]}\n\n", true},
      {event + "{}, \"finish_reason\": \"stop\"}]}\n\n", false},
      {"data: [DONE]\n\n", true},
  };
  for (const auto& [bytes, counts] : pieces) {
    reader.feed(bytes, ++now);
    if (counts) progress = now;
    EXPECT_EQ(reader.progress_ns(), progress) << bytes;
  }
}

TEST(ReplyReader, AStallSaysWhatDidNotComeAndForHowLong) {
  const std::string text = "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}}]}\n\n";
  const std::string finish = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n";
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  const std::vector<std::pair<Given, std::string>> cases = {
      {{"HTTP/1.1 200 O"}, "no whole head of a reply came for 7 ms"},
      {{head + ": ping\n\n"}, "no token came for 7 ms"},
      {{head + text}, "no token came for 7 ms, after 1 events with text"},
      {{head + text + finish}, "the reply's end did not come for 7 ms, after 1 events with text"},
      {{head, false, false}, "no whole reply came for 7 ms"},
  };
  for (const auto& [given, message] : cases) {
    RequestRecord record;
    LoadRequest request;
    request.stream = given.stream;
    ReplyReader reader(request, true, record);
    reader.feed(given.bytes, 1);
    reader.stall(1'000'000, 8'100'000);
    EXPECT_EQ(record.outcome, Outcome::kStalled);
    EXPECT_EQ(record.error, message);
    EXPECT_EQ(record.end_ns, 8'100'000);
  }
}

TEST(ReplyReader, DraftsInTheWordsOfSeveralServers) {
  using Count = std::optional<uint32_t>;
  const auto drafts = [](const std::string& fields) {
    const std::string end = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}], ";
    const RequestRecord record = read({chunked(end + fields + "}\n\n")});
    EXPECT_EQ(record.outcome, Outcome::kOk) << record.error;
    return std::pair(record.drafted, record.accepted);
  };
  const std::string openai =
      R"("usage": {"completion_tokens_details": {"accepted_prediction_tokens": 3, "rejected_prediction_tokens": 1}})";
  EXPECT_EQ(drafts(openai), std::pair(Count(4), Count(3)));
  EXPECT_EQ(drafts(R"("timings": {"draft_n": 9, "draft_n_accepted": 5})"), std::pair(Count(9), Count(5)));
  EXPECT_EQ(drafts(R"("timings": {"draft_n": 9, "draft_n_accepted": 5}, )" + openai), std::pair(Count(9), Count(5)));
  EXPECT_EQ(drafts(R"("usage": {"completion_tokens_details": {"reasoning_tokens": 3}})"), std::pair(Count(), Count()));
  EXPECT_EQ(drafts(R"("timings": {"predicted_n": 9})"), std::pair(Count(), Count()));
}

TEST(ReplyReader, OutcomesByKind) {
  const std::string stream = "text/event-stream";
  const std::string finish = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n";
  const std::string text = "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}}]}\n\n";
  const std::string whole = with_length(200, stream, text + finish);
  const std::vector<std::pair<Given, Outcome>> cases = {
      {{with_length(200, stream, text + finish)}, Outcome::kOk},
      {{until_close(stream, text + finish), true}, Outcome::kOk},
      {{until_close(stream, text), true}, Outcome::kDied},
      {{whole.substr(0, whole.size() - 4), true}, Outcome::kDied},
      {{whole.substr(0, whole.size() - 4)}, Outcome::kStalled},
      {{chunked(text + finish + "data: [DONE]\n\n").substr(0, chunked(text + finish + "data: [DONE]\n\n").size() - 5), true}, Outcome::kOk},
      {{"", true}, Outcome::kDied},
      {{"HTTP/1.1 20", true}, Outcome::kDied},
      {{with_length(404, "application/json", R"({"error": {"message": "no such model"}})")}, Outcome::kRefused},
      {{with_length(429, "text/plain", "slow down")}, Outcome::kRefused},
      {{with_length(503, "text/html", "<html>")}, Outcome::kFailed},
      {{with_length(302, "text/html", "")}, Outcome::kNonsense},
      {{with_length(200, "application/json", "{}")}, Outcome::kNonsense},
      {{with_length(200, stream, text)}, Outcome::kNonsense},
      {{with_length(200, stream, "data: [DONE]\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, "data: what\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, "data: 3\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, "data: {\"choices\": 3}\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, "data: {\"choices\": [3]}\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, "data: {\"choices\": [{\"delta\": {\"content\": 3}}]}\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, "data: {\"usage\": {\"prompt_tokens\": -1}}\n\n")}, Outcome::kNonsense},
      {{with_length(200, stream, text + "data: {\"error\": {\"message\": \"out of memory\"}}\n\n")}, Outcome::kFailed},
      {{with_length(200, stream, text + "event: error\ndata: out of memory\n\n")}, Outcome::kFailed},
      {{"HTTP/1.1 100 Continue\r\n\r\n", true}, Outcome::kDied},
      {{"HTTP/1.1 101 Switching Protocols\r\n\r\n"}, Outcome::kNonsense},
      {{"SSH-2.0-OpenSSH_9.2\r\n"}, Outcome::kNonsense},
      {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\nzz\r\n"}, Outcome::kNonsense},
  };
  for (const auto& [given, outcome] : cases) {
    const RequestRecord record = read(given);
    EXPECT_EQ(record.outcome, outcome) << given.bytes << "\n" << record.error;
    EXPECT_EQ(record.error.empty(), outcome == Outcome::kOk);
  }
}

TEST(ReplyReader, AnErrorIsShownAndBounded) {
  EXPECT_NE(read({with_length(404, "application/json", R"({"error": {"message": "no such model"}})")}).error.find("no such model"),
            std::string::npos);
  EXPECT_LT(read({with_length(500, "text/plain", std::string(100'000, 'x'))}).error.size(), 500u);
}

TEST(ReplyReader, LengthsMustBeThoseAskedFor) {
  const Given given{chunked(kEvents)};
  LoadRequest expected;
  expected.prompt_tokens = 7, expected.completion_tokens = 5;
  EXPECT_EQ(read(given, 10, 20, expected).outcome, Outcome::kOk);
  expected.prompt_tokens = 8;
  EXPECT_EQ(read(given, 10, 20, expected).outcome, Outcome::kLength);
  expected.prompt_tokens = 7, expected.completion_tokens = 6;
  const RequestRecord record = read(given, 10, 20, expected);
  EXPECT_EQ(record.outcome, Outcome::kLength);
  EXPECT_EQ(record.chunks.size(), 2u) << "what was measured stays";
}

}  // namespace
}  // namespace teapot::workbench
