// Runs from their options to what is reported, against a stub.
#include "workbench/bench/bench.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "temporary_folder.h"
#include "workbench/bench/overhead.h"
#include "workbench/bench/stub_server.h"

namespace teapot::workbench {
namespace {

class BenchRuns : public ::testing::Test {
 protected:
  static std::string lines(uint32_t count) {
    std::string text;
    for (uint32_t i = 0; i < count; ++i) text += fmt::format("prompt number {}\n", i);
    return text;
  }

  BenchOptions options(const std::string& url) const {
    BenchOptions options;
    options.url = url;
    options.dataset.dataset = "custom";
    options.dataset.path = folder_ / "prompts.txt";
    EXPECT_TRUE(write_file(*options.dataset.path, lines(40)));
    options.parallel = {1, 3};
    options.number = {4, 6};
    options.warmup = 2;
    return options;
  }

  static bool warns(const BenchRun& run, std::string_view words) {
    for (const std::string& warning : run.warnings) {
      if (warning.find(words) != std::string::npos) return true;
    }
    return false;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(BenchRuns, EachNumberOfUsersIsALoadOfItsOwn) {
  const auto stub = StubServer::start([](uint32_t) {
    StubScript script;
    script.prompt_tokens = 5;
    return script;
  });
  ASSERT_TRUE(stub);
  uint32_t loads = 0;
  uint32_t most_done = 0;
  BenchEvents events;
  events.load_done = [&loads](const BenchRun& run) { EXPECT_EQ(run.loads.size(), ++loads); };
  events.progress = [&most_done](uint32_t parallel, uint32_t done, uint32_t of, double) {
    EXPECT_EQ(of, parallel == 1 ? 6u : 8u);
    most_done = std::max(most_done, done);
  };
  const auto run = run_bench(options((*stub)->endpoint().url()), events);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->clean());
  ASSERT_EQ(run->loads.size(), 2u);
  EXPECT_EQ(loads, 2u);
  EXPECT_EQ(most_done, 8u);
  EXPECT_EQ(run->loads[0].summary.parallel, 1u);
  EXPECT_EQ(run->loads[0].result.records.size(), 4u);
  EXPECT_EQ(run->loads[1].summary.succeeded, 6u);
  const Json& conditions = run->conditions;
  EXPECT_EQ(conditions["server"]["model"], "stub") << "asked for at /v1/models";
  EXPECT_EQ(conditions["request"]["stream"], true);
  EXPECT_FALSE(conditions["request"].contains("messages"));
  EXPECT_EQ(conditions["dataset"]["dataset"], "custom");
  EXPECT_GT(conditions["client"]["overhead"]["us_per_event"], 0);
  EXPECT_GE(conditions["host"]["cores"], 1);
  EXPECT_TRUE(run->name.starts_with("stub_2")) << run->name;
  EXPECT_TRUE(warns(*run, "shares its processors"));
  EXPECT_FALSE(warns(*run, "hit the cache"));
}

TEST_F(BenchRuns, WhatTheReaderMustKnowIsSaid) {
  const auto stub = StubServer::start([](uint32_t request) {
    StubScript script;
    script.prompt_tokens = 5;
    script.cached_tokens = 4;
    if (request == 3) script.fault = StubFault::kFail;
    if (request == 4) script.usage = false;
    return script;
  });
  ASSERT_TRUE(stub);
  BenchOptions given = options((*stub)->endpoint().url());
  given.parallel = {1};
  given.number = {6};
  const auto run = run_bench(given, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->complete);
  EXPECT_FALSE(run->clean());
  EXPECT_TRUE(warns(*run, "hit the cache"));
  EXPECT_TRUE(warns(*run, "1 of 6 requests: failed (the first, number 1: status 500: as scripted)"));
  EXPECT_TRUE(warns(*run, "1 replies without usage"));
}

TEST_F(BenchRuns, FixedLengthsAreHeldTo) {
  const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });  // 16 tokens
  ASSERT_TRUE(stub);
  BenchOptions given = options((*stub)->endpoint().url());
  given.parallel = {1};
  given.number = {2};
  given.body.min_tokens = given.body.max_tokens = 8;
  auto run = run_bench(given, {});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->loads[0].summary.outcomes[static_cast<size_t>(Outcome::kLength)], 2u);
  EXPECT_TRUE(warns(*run, "expected 8"));
  given.allow_length_drift = true;
  run = run_bench(given, {});
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->clean());
}

TEST_F(BenchRuns, AServerThatIsNotThereIsCountedNotAnError) {
  std::string url;
  {
    const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });
    ASSERT_TRUE(stub);
    url = (*stub)->endpoint().url();
  }
  const auto run = run_bench(options(url), {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_FALSE(run->complete);
  ASSERT_EQ(run->loads.size(), 1u) << "the others are left out";
  EXPECT_EQ(run->loads[0].summary.outcomes[static_cast<size_t>(Outcome::kConnect)], 4u);
}

TEST_F(BenchRuns, AStopKeepsWhatWasMeasured) {
  std::atomic<bool> stop = false;
  const auto stub = StubServer::start([&stop](uint32_t request) {
    StubScript script;
    if (request == 10) stop = true;  // in the second load
    if (request >= 9) script.ttft = std::chrono::seconds(60);
    return script;
  });
  ASSERT_TRUE(stub);
  BenchEvents events;
  events.stop = &stop;
  const auto run = run_bench(options((*stub)->endpoint().url()), events);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_FALSE(run->complete);
  ASSERT_EQ(run->loads.size(), 2u);
  EXPECT_EQ(run->loads[0].summary.succeeded, 4u);
  EXPECT_TRUE(warns(*run, "stopped by the user"));
}

TEST_F(BenchRuns, WrongOptionsAreErrors) {
  const auto error = [](const BenchOptions& wrong) {
    const auto run = run_bench(wrong, {});
    EXPECT_FALSE(run);
    return run ? "" : run.error().message;
  };
  BenchOptions wrong = options("http://127.0.0.1:1");
  wrong.model_path = "x";
  EXPECT_NE(error(wrong).find("both"), std::string::npos);
  wrong = options("http://127.0.0.1:1");
  wrong.number = {1, 2, 3};
  EXPECT_NE(error(wrong).find("--number has 3 values"), std::string::npos);
  wrong = options("http://127.0.0.1:1");
  wrong.body.min_tokens = 9, wrong.body.max_tokens = 8;
  EXPECT_NE(error(wrong).find("--min-tokens"), std::string::npos);
  wrong = options("https://127.0.0.1:1");
  EXPECT_NE(error(wrong).find("https"), std::string::npos);
}

TEST_F(BenchRuns, WhatCannotBeMeasuredIsRefusedBeforeTheClientIsMeasured) {
  BenchEvents events;
  uint32_t notes = 0;
  events.note = [&notes](const std::string&) { ++notes; };
  const auto error = [&events](const BenchOptions& wrong) {
    const auto run = run_bench(wrong, events);
    EXPECT_FALSE(run);
    return run ? "" : run.error().message;
  };
  BenchOptions wrong = options("ftp://x");
  EXPECT_NE(error(wrong).find("does not begin with http://"), std::string::npos);
  wrong = options("http://127.0.0.1:1");
  wrong.dataset.dataset = "nope";
  EXPECT_NE(error(wrong).find("'nope' is not known"), std::string::npos);
  wrong = options("http://127.0.0.1:1");
  wrong.dataset.path = "/no/such/prompts";
  EXPECT_NE(error(wrong).find("/no/such/prompts: there is no such file"), std::string::npos);
  wrong = options("http://127.0.0.1:1");
  wrong.url.reset();
  wrong.model_path = "/no/such/model";
  EXPECT_NE(error(wrong).find("/no/such/model: there is no such model"), std::string::npos);
  wrong = options("http://127.0.0.1:1");
  wrong.tokenizer_path = "/no/such/tokenizer";
  EXPECT_NE(error(wrong).find("/no/such/tokenizer: there is no such tokenizer"), std::string::npos);
  EXPECT_EQ(notes, 0u);
}

TEST(Overhead, IsSmallAndMeasured) {
  const auto overhead = measure_overhead(8, {});
  ASSERT_TRUE(overhead) << overhead.error().message;
  EXPECT_GT(overhead->us_per_event, 0);
  EXPECT_GT(overhead->us_per_request, 0);
  EXPECT_GT(overhead->delay_us, 0);
  EXPECT_GT(overhead->events_per_second, 0);
  EXPECT_LT(overhead->us_per_event, 1000) << "processor time, so neighbours do not count";
}

}  // namespace
}  // namespace teapot::workbench
