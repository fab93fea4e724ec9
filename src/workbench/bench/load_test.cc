// The load generator against a stub that knows what it wrote and when: times, failures by kind, users, rates, warm-ups.
#include "workbench/bench/load.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "workbench/bench/bench_warnings.h"
#include "workbench/bench/client_connection.h"
#include "workbench/bench/raw_server_for_tests.h"
#include "workbench/bench/request_body.h"
#include "workbench/bench/stub_server.h"
#include "workbench/figures.h"

namespace teapot::workbench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::vector<LoadRequest> requests(uint32_t count, const BodyOptions& options = {}) {
  return std::vector<LoadRequest>(count, make_request(prompt_of("hi", options), options, false));
}

LoadResult load(const Endpoint& endpoint, std::span<const LoadRequest> all, const LoadOptions& options, const LoadEvents& events = {}) {
  auto result = run_load(endpoint, all, options, events);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : LoadResult{};
}

LoadOptions users(uint32_t parallel) {
  LoadOptions options;
  options.parallel = parallel;
  return options;
}

// Which of the stub's replies a record is of.
uint32_t number_of(const RequestRecord& record) {
  EXPECT_TRUE(record.content.starts_with('#')) << record.content;
  return static_cast<uint32_t>(std::atoi(record.content.c_str() + 1));
}

double ms(int64_t ns) { return static_cast<double>(ns) * 1e-6; }

// What a figure may be off by.
double tolerance(double expected_ms) { return std::max(0.01 * std::abs(expected_ms), 0.05); }

// The client's figures less the stub's.
struct Differences {
  double ttft_ms = 0, tpot_ms = 0, itl_ms = 0;
  double ttft_of = 0, tpot_of = 0, itl_of = 0;  // what tolerances are of

  bool small() const {
    return ttft_ms <= tolerance(ttft_of) && std::abs(tpot_ms) <= tolerance(tpot_of) && std::abs(itl_ms) <= tolerance(itl_of);
  }
};

// TTFT, TPOT and ITL of the client beside those of the stub. A processor that others use delays single reads, on both sides. That cancels
// in the medians of differences between events; TTFT has the ways to the stub and back in it, which can only be too long: there the least
// difference of all requests is held to the bound, and what the client adds by itself is in each of them.
void measure_times(uint32_t parallel, uint32_t tokens_per_event, Differences& found) {
  StubScript script;
  script.ttft = milliseconds(60);
  script.itl = milliseconds(8);
  script.tokens = 24;
  script.tokens_per_event = tokens_per_event;
  script.usage_in_events = tokens_per_event > 1;
  const auto stub = StubServer::start([script](uint32_t) { return script; });
  ASSERT_TRUE(stub) << stub.error().message;
  const uint32_t count = std::max(8u, 4 * parallel);
  const LoadResult result = load((*stub)->endpoint(), requests(count), users(parallel));
  ASSERT_EQ(result.records.size(), count);
  const auto replies = (*stub)->replies();

  std::vector<double> ttft_off, tpot_off, itl_off;
  std::vector<double> ttft, tpot, itl;  // of the stub
  for (const RequestRecord& record : result.records) {
    ASSERT_EQ(record.outcome, Outcome::kOk) << record.error;
    const StubReply& reply = replies[number_of(record)];
    ASSERT_EQ(record.chunks.size(), reply.written_ns.size());
    const double tokens = script.tokens - 1;
    ttft.push_back(ms(reply.written_ns[0] - reply.received_ns));
    ttft_off.push_back(ms(record.first_ns - record.start_ns) - ttft.back());
    tpot.push_back(ms(reply.written_ns.back() - reply.written_ns[0]) / tokens);
    tpot_off.push_back(ms(record.chunks.back().at_ns - record.first_ns) / tokens - tpot.back());
    for (size_t i = 1; i < record.chunks.size(); ++i) {
      itl.push_back(ms(reply.written_ns[i] - reply.written_ns[i - 1]));
      itl_off.push_back(ms(record.chunks[i].at_ns - record.chunks[i - 1].at_ns) - itl.back());
    }
    uint32_t told = 0;
    for (const Chunk& chunk : record.chunks) told += chunk.tokens;
    EXPECT_EQ(told, script.usage_in_events ? script.tokens : 0);
    EXPECT_EQ(record.completion_tokens, script.tokens);
    EXPECT_GE(record.last_ns, record.chunks.back().at_ns);
    EXPECT_GE(record.end_ns, record.last_ns);
  }
  EXPECT_GE(std::ranges::min(ttft_off), 0);
  found = {std::ranges::min(ttft_off), median(tpot_off), median(itl_off), median(ttft), median(tpot), median(itl)};
}

// Others may have the processors for all of a load: a client that is at fault is so each time.
void expect_times(uint32_t parallel, uint32_t tokens_per_event) {
  Differences found;
  for (int attempt = 0; attempt < 6 && (attempt == 0 || !found.small()); ++attempt) {
    ASSERT_NO_FATAL_FAILURE(measure_times(parallel, tokens_per_event, found));
  }
  EXPECT_TRUE(found.small()) << fmt::format("TTFT {:.3f} of {:.3f}, TPOT {:.3f} of {:.3f}, ITL {:.3f} of {:.3f} ms", found.ttft_ms,
                                            found.ttft_of, found.tpot_ms, found.tpot_of, found.itl_ms, found.itl_of);
}

TEST(Load, TimesAreThoseOfTheServer) {
  for (const uint32_t parallel : {1u, 4u, 8u}) {
    SCOPED_TRACE(fmt::format("{} users", parallel));
    expect_times(parallel, 1);
  }
}

TEST(Load, TimesAreThoseOfTheServerWithSeveralTokensAnEvent) {
  for (const uint32_t parallel : {1u, 4u, 8u}) {
    SCOPED_TRACE(fmt::format("{} users", parallel));
    expect_times(parallel, 3);
  }
}

TEST(Load, FailuresAreCountedByKindAndTheRestIsReported) {
  const std::map<uint32_t, StubFault> faults = {{1, StubFault::kRefuse},   {3, StubFault::kFail},  {4, StubFault::kErrorEvent},
                                                {6, StubFault::kDie},      {8, StubFault::kStall}, {9, StubFault::kNonsense},
                                                {11, StubFault::kNoFinish}};
  const std::map<StubFault, Outcome> outcomes = {{StubFault::kRefuse, Outcome::kRefused},    {StubFault::kFail, Outcome::kFailed},
                                                 {StubFault::kErrorEvent, Outcome::kFailed}, {StubFault::kDie, Outcome::kDied},
                                                 {StubFault::kStall, Outcome::kStalled},     {StubFault::kNonsense, Outcome::kNonsense},
                                                 {StubFault::kNoFinish, Outcome::kNonsense}};
  const auto stub = StubServer::start([&faults](uint32_t request) {
    StubScript script;
    script.tokens = 5;
    if (const auto fault = faults.find(request); fault != faults.end()) script.fault = fault->second;
    script.fault_after = 2;
    return script;
  });
  ASSERT_TRUE(stub);
  LoadOptions options = users(1);  // the n-th request of the load is the stub's n-th
  options.token_timeout = milliseconds(300);
  const LoadResult result = load((*stub)->endpoint(), requests(14), options);
  ASSERT_EQ(result.records.size(), 14u);
  for (const RequestRecord& record : result.records) {
    const auto fault = faults.find(record.index);
    if (fault == faults.end()) {
      EXPECT_EQ(record.outcome, Outcome::kOk) << record.error;
      EXPECT_EQ(record.chunks.size(), 5u);
      continue;
    }
    EXPECT_EQ(record.outcome, outcomes.at(fault->second)) << record.error;
    EXPECT_FALSE(record.error.empty());
    const bool in_stream = fault->second != StubFault::kRefuse && fault->second != StubFault::kFail;
    EXPECT_EQ(record.chunks.size(), in_stream ? 2u : 0u) << "what came before the fault stays";
    EXPECT_GE(record.end_ns, record.start_ns);
  }
  EXPECT_NE(result.records[1].error.find("as scripted"), std::string::npos) << result.records[1].error;
  EXPECT_NE(result.records[4].error.find("as scripted"), std::string::npos) << result.records[4].error;
}

TEST(Load, AnAbsentServerIsNoConnection) {
  Endpoint gone;
  {
    const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });
    ASSERT_TRUE(stub);
    gone = (*stub)->endpoint();
  }
  const LoadResult result = load(gone, requests(3), users(2));
  ASSERT_EQ(result.records.size(), 3u);
  for (const RequestRecord& record : result.records) EXPECT_EQ(record.outcome, Outcome::kConnect) << record.error;
  gone.host = "no-such-host.invalid";
  for (const RequestRecord& record : load(gone, requests(3), users(2)).records)
    EXPECT_EQ(record.outcome, Outcome::kConnect) << record.error;
}

TEST(Load, AServerThatDiesInMidRunLeavesWhatWasMeasured) {
  const auto stub = StubServer::start([](uint32_t) {
    StubScript script;
    script.itl = milliseconds(1);
    return script;
  });
  ASSERT_TRUE(stub);
  uint32_t done = 0;
  std::thread stopper;
  LoadEvents events;
  events.done = [&](const RequestRecord&) {
    if (++done == 6) stopper = std::thread([&stub] { (*stub)->stop(); });
  };
  const LoadResult result = load((*stub)->endpoint(), requests(40), users(2), events);
  stopper.join();
  std::map<Outcome, int> outcomes;
  for (const RequestRecord& record : result.records) ++outcomes[record.outcome];
  EXPECT_GE(outcomes[Outcome::kOk], 6);
  EXPECT_GE(outcomes[Outcome::kConnect], 1);
  EXPECT_EQ(outcomes[Outcome::kOk] + outcomes[Outcome::kConnect] + outcomes[Outcome::kDied], 40);
  EXPECT_EQ(done, 40u);
}

TEST(Load, LengthsAreChecked) {
  const auto stub = StubServer::start([](uint32_t request) {
    StubScript script;
    script.prompt_tokens = request == 1 ? 9 : 10;
    script.tokens = request == 2 ? 4 : 5;
    script.usage = request != 3;
    return script;
  });
  ASSERT_TRUE(stub);
  std::vector<LoadRequest> all = requests(5);
  for (LoadRequest& request : all) request.prompt_tokens = 10, request.completion_tokens = 5;
  const LoadResult result = load((*stub)->endpoint(), all, users(1));
  const std::vector<Outcome> expected = {Outcome::kOk, Outcome::kLength, Outcome::kLength, Outcome::kNonsense, Outcome::kOk};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(result.records[i].outcome, expected[i]) << result.records[i].error;
}

TEST(Load, ReadsUsageCacheAndSpeculationOfBothEndpoints) {
  const auto stub = StubServer::start([](uint32_t) {
    StubScript script;
    script.prompt_tokens = 10, script.cached_tokens = 4, script.drafted = 8, script.accepted = 6;
    return script;
  });
  ASSERT_TRUE(stub);
  BodyOptions completions;
  completions.chat = false;
  for (const BodyOptions& body : {BodyOptions{}, completions}) {
    const Endpoint endpoint = body.chat ? (*stub)->endpoint() : (*stub)->endpoint().with_target("/v1/completions");
    const LoadResult result = load(endpoint, requests(1, body), users(1));
    const RequestRecord& record = result.records.at(0);
    ASSERT_EQ(record.outcome, Outcome::kOk) << record.error;
    EXPECT_EQ(record.prompt_tokens, 10u);
    EXPECT_EQ(record.completion_tokens, 16u);
    EXPECT_EQ(record.cached_tokens, 4u);
    EXPECT_EQ(record.drafted, 8u);
    EXPECT_EQ(record.accepted, 6u);
    EXPECT_EQ(record.finish_reason, "length");
    EXPECT_TRUE(record.content.ends_with("x x ")) << record.content;
  }
}

TEST(Load, AWholeReplyHasNoFirstToken) {
  const auto stub = StubServer::start([](uint32_t) {
    StubScript script;
    script.ttft = milliseconds(20);
    return script;
  });
  ASSERT_TRUE(stub);
  BodyOptions body;
  body.stream = false;
  const LoadResult result = load((*stub)->endpoint(), requests(3, body), users(1));
  for (const RequestRecord& record : result.records) {
    ASSERT_EQ(record.outcome, Outcome::kOk) << record.error;
    EXPECT_EQ(record.first_ns, 0);
    EXPECT_TRUE(record.chunks.empty());
    EXPECT_EQ(record.completion_tokens, 16u);
    EXPECT_GE(record.end_ns - record.start_ns, 20'000'000);
  }
}

TEST(Load, ConnectionsAreKeptAndUsersWaitForTheirReplies) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  const auto stub = StubServer::start([&](uint32_t) {
    StubScript script;
    script.ttft = milliseconds(5);
    const int now = ++running;
    if (now > most) most = now;
    return script;
  });
  ASSERT_TRUE(stub);
  LoadEvents events;
  events.done = [&running](const RequestRecord&) { --running; };
  const LoadResult result = load((*stub)->endpoint(), requests(30), users(6), events);
  EXPECT_EQ(result.records.size(), 30u);
  EXPECT_GE(most, 2);
  EXPECT_LE(most, 6);
  EXPECT_GT(result.client_cpu_s, 0);
}

TEST(Load, WarmUpsComeFirstAndDoNotCount) {
  const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });
  ASSERT_TRUE(stub);
  LoadOptions options = users(2);
  options.warmup = 4;
  uint32_t done = 0;
  LoadEvents events;
  events.done = [&done](const RequestRecord&) { ++done; };
  const LoadResult result = load((*stub)->endpoint(), requests(10), options, events);
  EXPECT_EQ(done, 10u);
  ASSERT_EQ(result.records.size(), 6u);
  for (size_t i = 0; i < result.records.size(); ++i) {
    EXPECT_EQ(result.records[i].index, i);
    EXPECT_GE(result.records[i].start_ns, result.start_ns);
    EXPECT_GE(number_of(result.records[i]), 3u) << "the first of the stub's requests are warm-ups";
  }
}

TEST(Load, ARateStartsRequestsAtRandomMomentsOfItsSeed) {
  const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });
  ASSERT_TRUE(stub);
  LoadOptions options = users(8);
  options.rate = 100;
  options.seed = 3;
  const LoadResult result = load((*stub)->endpoint(), requests(60), options);
  std::vector<double> gaps_ms;
  for (size_t i = 1; i < result.records.size(); ++i) gaps_ms.push_back(ms(result.records[i].start_ns - result.records[i - 1].start_ns));
  const double mean = ms(result.records.back().start_ns - result.records[0].start_ns) / static_cast<double>(gaps_ms.size());
  EXPECT_GT(mean, 6) << "10 ms are expected";
  EXPECT_LT(median(gaps_ms), 0.95 * mean) << "exponential gaps have their median at 0.69 of the mean";
}

TEST(Load, AStopEndsWhatRunsAndKeepsWhatIsDone) {
  const auto stub = StubServer::start([](uint32_t request) {
    StubScript script;
    if (request >= 4) script.itl = std::chrono::seconds(10);
    return script;
  });
  ASSERT_TRUE(stub);
  std::atomic<bool> stop = false;
  uint32_t done = 0;
  LoadEvents events;
  events.stop = &stop;
  events.done = [&](const RequestRecord&) { stop = ++done >= 4; };
  const LoadResult result = load((*stub)->endpoint(), requests(50), users(2), events);
  ASSERT_GE(result.records.size(), 4u);
  EXPECT_LT(result.records.size(), 50u) << "requests that never began are no records";
  for (const RequestRecord& record : result.records) {
    EXPECT_TRUE(record.outcome == Outcome::kOk || record.outcome == Outcome::kCancelled) << record.error;
  }
}

TEST(Load, ProgressTellsChunksAndTpot) {
  const auto stub = StubServer::start([](uint32_t) {
    StubScript script;
    script.itl = milliseconds(10);
    script.tokens = 60;
    return script;
  });
  ASSERT_TRUE(stub);
  uint32_t last_chunks = 0;
  double last_tpot = 0;
  LoadEvents events;
  events.progress = [&](uint32_t chunks, double tpot_ms) {
    EXPECT_GE(chunks, last_chunks);
    last_chunks = chunks;
    if (tpot_ms > 0) last_tpot = tpot_ms;
  };
  load((*stub)->endpoint(), requests(2), users(2), events);
  EXPECT_GT(last_chunks, 0u);
  EXPECT_GE(last_tpot, 9);
}

TEST(Load, WhatCannotBeALoadIsAnError) {
  const std::vector<LoadRequest> two = requests(2);
  LoadOptions no_users = users(0);
  LoadOptions only_warmup = users(1);
  only_warmup.warmup = 2;
  LoadOptions no_cpu = users(1);
  no_cpu.client_cpus = {100'000};
  LoadOptions no_rate = users(1);
  no_rate.rate = std::nan("");
  for (const LoadOptions& options : {no_users, only_warmup, no_cpu, no_rate}) {
    const auto result = run_load(Endpoint{}, two, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kInvalid);
  }
}

TEST(Load, WhatAServerDroppedWithTheConnectionItPromisedToKeepIsSentAgain) {
  const RawServer server(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 89\r\n\r\n"
      "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n",
      "", /*at_next=*/true);
  const LoadResult result = load(server.endpoint(), requests(3), users(1));
  ASSERT_EQ(result.records.size(), 3u);
  for (const RequestRecord& record : result.records) {
    EXPECT_EQ(record.outcome, Outcome::kOk) << record.error;
    EXPECT_EQ(record.sent_again, record.index > 0);
  }
  const std::vector<std::string> warnings = load_warnings(result, true, 0);
  EXPECT_TRUE(
      std::ranges::any_of(warnings, [](const std::string& text) { return text.starts_with("c = 1: 2 of 3 requests were sent again"); }));
}

TEST(Load, WhatANewConnectionDropsHasFailed) {
  const RawServer server("", "");
  const LoadResult result = load(server.endpoint(), requests(1), users(1));
  EXPECT_EQ(result.records.at(0).outcome, Outcome::kDied);
  EXPECT_FALSE(result.records.at(0).sent_again);
}

}  // namespace
}  // namespace teapot::workbench
