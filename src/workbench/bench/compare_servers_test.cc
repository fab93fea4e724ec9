// Comparisons over HTTP, with servers whose delays are a script's.
#include "workbench/bench/compare_servers.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "temporary_folder.h"
#include "workbench/bench/stub_server.h"

namespace teapot::workbench {
namespace {

using std::chrono::milliseconds;

class ComparedServersTest : public ::testing::Test {
 protected:
  ComparedServersTest() {
    std::string prompts;
    for (int i = 0; i < 1000; ++i) prompts += "prompt " + std::to_string(i) + "\n";
    EXPECT_TRUE(write_file(path_, prompts));
    options_.dataset.dataset = "custom";
    options_.dataset.path = path_;
    options_.body.max_tokens = 8;
    options_.body.temperature = 0;
    options_.requests_per_user = 1;
    compare_.parallel = {1, 2};
    compare_.pairs = 12;
    compare_.aa_pairs = 2;
  }

  static std::unique_ptr<StubServer> stub(milliseconds itl, StubServer::Script script = {}) {
    if (!script) {
      script = [itl](uint32_t) {
        StubScript reply;
        reply.ttft = milliseconds(2);
        reply.itl = itl;
        reply.tokens = 8;
        return reply;
      };
    }
    auto server = StubServer::start(std::move(script));
    EXPECT_TRUE(server) << server.error().message;
    return *std::move(server);
  }

  void point(const StubServer& a, const StubServer& b) {
    options_.servers[0].url = a.endpoint().url();
    options_.servers[1].url = b.endpoint().url();
  }

  Result<std::unique_ptr<ComparedServers>> open() {
    return ComparedServers::open(options_, compare_, nullptr, [](const std::string&) {});
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "prompts.txt";
  CompareServersOptions options_;
  CompareOptions compare_;
};

TEST_F(ComparedServersTest, AServerThreeTimesAsSlowIsWorse) {
  const auto a = stub(milliseconds(3)), b = stub(milliseconds(9));
  point(*a, *b);
  const auto servers = open();
  ASSERT_TRUE(servers) << servers.error().message;
  EXPECT_TRUE((*servers)->local());
  const size_t warm = 3;  // a request of each user of each load
  EXPECT_EQ(a->replies().size(), warm);
  CompareHooks hooks;
  hooks.run = [&](const Turn& turn) { return (*servers)->run(turn); };
  std::vector<PairRecord> pairs;
  const auto found = run_compare(compare_, hooks, pairs);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->verdict, Verdict::kWorse);
  EXPECT_GT(found->mean.tpot.ratio(), 1.5);
  const uint32_t measured = found->mean.tpot.log_ratio.pairs;
  EXPECT_EQ(b->replies().size(), warm + 3 * measured);
  EXPECT_EQ(a->replies().size(), warm + 3 * measured + 2 * 3 * compare_.aa_pairs);
  EXPECT_EQ(found->replies.compared, 3 * measured) << "one model's name, the same prompts, greedy";
  EXPECT_EQ(found->null_replies.compared, 0u) << "a server that keeps its prefixes gets prompts of their own";
}

TEST_F(ComparedServersTest, RequestsThatFailAreFiguresOfTheTurn) {
  const auto a = stub(milliseconds(0));
  const auto b = stub(milliseconds(0), [](uint32_t request) {
    StubScript reply;
    if (request >= 3) reply.fault = StubFault::kFail;
    return reply;
  });
  point(*a, *b);
  const auto servers = open();
  ASSERT_TRUE(servers) << servers.error().message;
  Turn turn;
  turn.b = true;
  turn.load = 1;
  const auto figures = (*servers)->run(turn);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->requests, 2u);
  EXPECT_EQ(figures->failed, 2u);
  EXPECT_TRUE(figures->fault.starts_with("failed: ")) << figures->fault;
}

TEST_F(ComparedServersTest, WhatCannotBeComparedIsNamedBeforeAnythingIsMeasured) {
  const auto a = stub(milliseconds(0));
  const auto message = [this] {
    const auto servers = open();
    return servers ? "" : servers.error().message;
  };
  EXPECT_NE(message().find("A: found neither"), std::string::npos) << message();
  point(*a, *a);
  EXPECT_EQ(message(), "");
  options_.servers[1].url = "http://127.0.0.1:1";
  EXPECT_TRUE(message().starts_with("B: ")) << message();
  point(*a, *a);
  compare_.pairs = 1000;
  EXPECT_NE(message().find("found 1000 prompts"), std::string::npos) << message();
  compare_.pairs = 12;
  options_.body.stream = false;
  EXPECT_NE(message().find("--no-stream"), std::string::npos) << message();
  options_.body.stream = true;
  const auto broken = stub(milliseconds(0), [](uint32_t) {
    StubScript reply;
    reply.fault = StubFault::kRefuse;
    return reply;
  });
  point(*a, *broken);
  EXPECT_NE(message().find("requests failed: refused"), std::string::npos) << message();
}

}  // namespace
}  // namespace teapot::workbench
