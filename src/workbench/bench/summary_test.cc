#include "workbench/bench/summary.h"

#include <gtest/gtest.h>

#include "workbench/bench/bench.h"
#include "workbench/bench/records_for_tests.h"

namespace teapot::workbench {
namespace {

TEST(Distribution, OfNothingIsZero) {
  const Distribution none = Distribution::of({});
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(none.p99, 0);
}

TEST(Distribution, OfOneValueIsThatValueEverywhere) {
  const Distribution one = Distribution::of({7});
  EXPECT_EQ(one.count, 1);
  for (const double value : {one.mean, one.min, one.p50, one.p90, one.p95, one.p99, one.max}) EXPECT_EQ(value, 7);
}

// numpy.percentile([1, 2, 3, 4, 10], [50, 90, 95, 99]) is [3, 7.6, 8.8, 9.76].
TEST(Distribution, PercentilesLieBetweenTheOrderStatistics) {
  const Distribution five = Distribution::of({10, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(five.mean, 4);
  EXPECT_DOUBLE_EQ(five.min, 1);
  EXPECT_DOUBLE_EQ(five.p50, 3);
  EXPECT_DOUBLE_EQ(five.p90, 7.6);
  EXPECT_DOUBLE_EQ(five.p95, 8.8);
  EXPECT_DOUBLE_EQ(five.p99, 9.76);
  EXPECT_DOUBLE_EQ(five.max, 10);
}

TEST(Distribution, TheMedianOfTwoIsTheirMean) { EXPECT_DOUBLE_EQ(Distribution::of({1, 2}).p50, 1.5); }

// Start 1000 ms, chunks at 1100, 1110 and 1130, finished at 1131, [DONE] at 1140; five tokens.
TEST(Figures, OfOneReplyByHand) {
  const RequestRecord record = reply({.start_ms = 1000, .chunks_ms = {1100, 1110, 1130}, .last_ms = 1131, .end_ms = 1140, .tokens = 5});
  EXPECT_DOUBLE_EQ(*ttft_ms(record), 100);
  EXPECT_DOUBLE_EQ(*tpot_ms(record), 31.0 / 4);
  const LoadSummary summary = summarise(load_of({record}));
  EXPECT_DOUBLE_EQ(summary.latency_ms.mean, 140);
  EXPECT_EQ(summary.itl_ms.count, 2);
  EXPECT_DOUBLE_EQ(summary.itl_ms.mean, 15);
  EXPECT_DOUBLE_EQ(summary.chunk_tokens.mean, 5.0 / 3);
  EXPECT_DOUBLE_EQ(summary.wall_s, 0.14);
  EXPECT_DOUBLE_EQ(summary.output_tok_s, 5 / 0.14);
  EXPECT_DOUBLE_EQ(summary.total_tok_s, 105 / 0.14);
  EXPECT_DOUBLE_EQ(summary.requests_s, 1 / 0.14);
}

TEST(Figures, OfOneTokenThereIsATtftAndNoTpot) {
  const RequestRecord record = reply({.start_ms = 0, .chunks_ms = {50}, .last_ms = 50, .end_ms = 51, .tokens = 1});
  EXPECT_DOUBLE_EQ(*ttft_ms(record), 50);
  EXPECT_FALSE(tpot_ms(record));
  const LoadSummary summary = summarise(load_of({record}));
  EXPECT_EQ(summary.tpot_ms.count, 0);
  EXPECT_EQ(summary.itl_ms.count, 0);
  EXPECT_EQ(summary.ttft_ms.count, 1);
}

TEST(Figures, OfAReplyInOneChunkThereIsNoTpot) {
  const RequestRecord record = reply({.start_ms = 0, .chunks_ms = {50}, .last_ms = 50, .end_ms = 51, .tokens = 64});
  EXPECT_DOUBLE_EQ(*ttft_ms(record), 50);
  EXPECT_FALSE(tpot_ms(record));
  EXPECT_DOUBLE_EQ(summarise(load_of({record})).chunk_tokens.mean, 64);
}

TEST(Figures, OfChunksThatOneReadBroughtThereIsNoTpot) {
  const RequestRecord record = reply({.start_ms = 0, .chunks_ms = {50, 50, 50}, .last_ms = 51, .end_ms = 51, .tokens = 3});
  EXPECT_DOUBLE_EQ(*ttft_ms(record), 50);
  EXPECT_FALSE(tpot_ms(record));
}

TEST(Figures, OfAReplyWithoutChunksThereIsALatencyOnly) {
  const RequestRecord record = reply({.start_ms = 0, .chunks_ms = {}, .last_ms = 0, .end_ms = 51, .tokens = 0});
  EXPECT_FALSE(ttft_ms(record));
  EXPECT_FALSE(tpot_ms(record));
  const LoadSummary summary = summarise(load_of({record}));
  EXPECT_EQ(summary.succeeded, 1);
  EXPECT_EQ(summary.chunk_tokens.count, 0);
  EXPECT_DOUBLE_EQ(summary.latency_ms.p50, 51);
}

TEST(Summary, TokensOfChunksAreTheServersWhereItTells) {
  RequestRecord record = reply({.start_ms = 0, .chunks_ms = {10, 20}, .last_ms = 20, .end_ms = 20, .tokens = 4});
  record.chunks[0].tokens = 1;
  record.chunks[1].tokens = 3;
  const LoadSummary summary = summarise(load_of({record}));
  EXPECT_EQ(summary.chunk_tokens.min, 1);
  EXPECT_EQ(summary.chunk_tokens.max, 3);
}

TEST(Summary, TokensAreThoseOfRepliesWithUsage) {
  RequestRecord silent = reply({.start_ms = 0, .chunks_ms = {10, 20}, .last_ms = 20, .end_ms = 20, .tokens = 0, .prompt = 0});
  silent.has_usage = false;
  const RequestRecord told = reply({.start_ms = 0, .chunks_ms = {10, 20}, .last_ms = 20, .end_ms = 20, .tokens = 4, .prompt = 6});
  const LoadSummary summary = summarise(load_of({silent, told}));
  EXPECT_EQ(summary.without_usage, 1);
  EXPECT_EQ(summary.completion_tokens, 4);
  EXPECT_EQ(summary.prompt_tokens, 6);
  EXPECT_EQ(summary.chunk_tokens.count, 2);
  EXPECT_EQ(summary.chunk_tokens.mean, 2);
}

TEST(Summary, OfNoRequestsIsZero) {
  const LoadSummary summary = summarise(LoadResult{});
  EXPECT_EQ(summary.requests, 0);
  EXPECT_EQ(summary.wall_s, 0);
  EXPECT_EQ(summary.output_tok_s, 0);
  EXPECT_EQ(summary.requests_s, 0);
  EXPECT_EQ(summary.client_cpu_share, 0);
  EXPECT_EQ(summary.prompt_tokens, 0);
  EXPECT_FALSE(summary.cached_tokens);
}

TEST(Summary, FailuresAreCountedByKindAndHaveNoFigures) {
  RequestRecord died = reply({.start_ms = 0, .chunks_ms = {10, 20}, .last_ms = 20, .end_ms = 30, .tokens = 2});
  died.outcome = Outcome::kDied;
  RequestRecord refused;
  refused.outcome = Outcome::kRefused;
  refused.cached_tokens = 7;
  const LoadSummary summary = summarise(load_of({died, died, refused}));
  EXPECT_EQ(summary.requests, 3);
  EXPECT_EQ(summary.succeeded, 0);
  EXPECT_EQ(summary.outcomes[static_cast<size_t>(Outcome::kDied)], 2);
  EXPECT_EQ(summary.outcomes[static_cast<size_t>(Outcome::kRefused)], 1);
  EXPECT_EQ(summary.ttft_ms.count, 0);
  EXPECT_EQ(summary.itl_ms.count, 0);
  EXPECT_EQ(summary.output_tok_s, 0);
  EXPECT_FALSE(summary.cached_tokens);
}

TEST(Summary, MeansAndSumsOverReplies) {
  RequestRecord first = reply({.start_ms = 0, .chunks_ms = {100, 200}, .last_ms = 200, .end_ms = 200, .tokens = 2, .prompt = 10});
  first.cached_tokens = 4;
  first.drafted = 8;
  first.accepted = 6;
  const RequestRecord second = reply({.start_ms = 100, .chunks_ms = {400, 700}, .last_ms = 700, .end_ms = 1000, .tokens = 4, .prompt = 20});
  LoadResult load = load_of({first, second});
  load.client_cpu_s = 0.25;
  const LoadSummary summary = summarise(load);
  EXPECT_DOUBLE_EQ(summary.wall_s, 1);
  EXPECT_DOUBLE_EQ(summary.ttft_ms.mean, 200);
  EXPECT_DOUBLE_EQ(summary.tpot_ms.mean, 100);
  EXPECT_DOUBLE_EQ(summary.prompt_tokens, 15);
  EXPECT_DOUBLE_EQ(summary.completion_tokens, 3);
  EXPECT_DOUBLE_EQ(summary.output_tok_s, 6);
  EXPECT_DOUBLE_EQ(summary.total_tok_s, 36);
  EXPECT_DOUBLE_EQ(summary.requests_s, 2);
  EXPECT_DOUBLE_EQ(summary.client_cpu_share, 0.25);
  EXPECT_EQ(summary.cached_tokens, 4);
  EXPECT_EQ(summary.drafted, 8);
  EXPECT_EQ(summary.accepted, 6);
}

TEST(BenchRun, IsCleanWhenCompleteAndEveryRequestSucceeded) {
  BenchRun run;
  run.loads.push_back({summarise(load_of({reply({.start_ms = 0, .chunks_ms = {1}, .last_ms = 1, .end_ms = 1, .tokens = 1})})), {}});
  EXPECT_TRUE(run.clean());
  run.complete = false;
  EXPECT_FALSE(run.clean());
  run.complete = true;
  run.loads.front().summary.succeeded = 0;
  EXPECT_FALSE(run.clean());
}

}  // namespace
}  // namespace teapot::workbench
