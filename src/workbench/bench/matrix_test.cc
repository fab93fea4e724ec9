#include "workbench/bench/matrix.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "temporary_folder.h"
#include "workbench/bench/run_for_tests.h"
#include "workbench/bench/wrap.h"

namespace teapot::workbench {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != text.npos; }

// Servers that answer in so many milliseconds a token, and break where told to.
class FakeServers {
 public:
  std::map<std::string, double> tpot_ms;       // by a piece of the cell's name
  std::string refuses, fails_requests;         // of the cell with that name
  std::vector<std::string> measured, started;  // names, in order
  int running = 0;                             // command servers that live
  bool start_fails = false;

  MatrixTools tools() {
    MatrixTools tools;
    tools.bench = [this](const BenchOptions& options) { return bench(options); };
    tools.start = [this](const MatrixServer& server) -> Result<std::shared_ptr<void>> {
      started.push_back(server.name);
      if (start_fails) return fail(ErrorKind::kBusy, "{}: not ready after 1 s", server.name);
      ++running;
      return std::shared_ptr<void>(nullptr, [this](void*) { --running; });
    };
    return tools;
  }

 private:
  Result<BenchRun> bench(const BenchOptions& options) {
    measured.push_back(options.name);
    if (options.name == refuses) return fail(ErrorKind::kNotFound, "no server at {}", options.url.value_or("-"));
    double scale = 1;
    for (const auto& [piece, ms] : tpot_ms) {
      if (has(options.name, piece)) scale = ms / 10;
    }
    BenchRun run = run_for_tests(options.parallel, options.number.front(), options.body.max_tokens);
    run.name = options.name;
    for (RequestRecord& record : run.loads[0].result.records) {
      for (Chunk& chunk : record.chunks) {
        chunk.at_ns = record.start_ns + static_cast<int64_t>(scale * static_cast<double>(chunk.at_ns - record.start_ns));
      }
      record.first_ns = record.chunks.front().at_ns;
      record.last_ns = record.end_ns = record.chunks.back().at_ns;
    }
    run.warnings = {"shared processors", options.name == "ours-64-8-c1" ? "a cache" : "no cache"};
    run.warnings.resize(options.name == "ours-64-8-c1" ? 2 : 1);
    if (options.name == fails_requests) run.loads[0].result.records[1].outcome = Outcome::kStalled;
    run.loads[0].summary = summarise(run.loads[0].result);
    return run;
  }
};

constexpr const char* kTwoServers = R"(
control: h20
servers:
  - {name: ours, url: "http://127.0.0.1:1/v1", tokenizer: t}
  - {name: h20, url: "http://127.0.0.1:2/v1", tokenizer: t}
loads: [{prompt: 64, output: 8}, {prompt: 32, output: 16}]
parallel: [1, 2]
number: 4
)";

class MatrixRuns : public ::testing::Test {
 protected:
  MatrixRuns() {
    servers_.tpot_ms = {{"h20-", 20}, {"ours-", 10}};
    events_.note = [this](const std::string& note) { notes_ += note + "\n"; };
  }

  Matrix run(const std::string& yaml) {
    notes_.clear();
    const auto plan = parse_matrix_plan(yaml, "m.yaml", "m");
    EXPECT_TRUE(plan) << plan.error().message;
    const MatrixTools tools = servers_.tools();
    auto matrix = run_matrix(*plan, dir_, tools, events_);
    EXPECT_TRUE(matrix) << matrix.error().message;
    return matrix ? *std::move(matrix) : Matrix{};
  }

  testing::TemporaryFolder folder_;
  fs::path dir_ = folder_ / "matrix";
  FakeServers servers_;
  MatrixEvents events_;
  std::string notes_;
};

TEST_F(MatrixRuns, MeasuresEveryCellAndRefersToTheControl) {
  const Matrix matrix = run(kTwoServers);
  EXPECT_TRUE(matrix.clean());
  EXPECT_EQ(servers_.measured, (std::vector<std::string>{"ours-64-8-c1", "ours-64-8-c2", "ours-32-16-c1", "ours-32-16-c2", "h20-64-8-c1",
                                                         "h20-64-8-c2", "h20-32-16-c1", "h20-32-16-c2"}));
  const Json json = to_json(matrix);
  ASSERT_EQ(json["cells"].size(), 8);
  EXPECT_EQ(json["cells"][0]["server"], "h20") << "the control comes first";
  EXPECT_TRUE(json["cells"][0]["tpot_ratio"].is_null());
  EXPECT_EQ(json["cells"][1]["server"], "ours");
  EXPECT_EQ(json["cells"][1]["parallel"], 1);
  EXPECT_NEAR(json["cells"][1]["tpot_ratio"].get<double>(), 0.5, 1e-6);
  EXPECT_NEAR(json["cells"][1]["ttft_ratio"].get<double>(), 0.5, 1e-6);
  for (const char* file : {"matrix.txt", "matrix.csv", "matrix.md", "matrix.html", "matrix.json", "cells/ours-64-8-c1/report.html",
                           "cells/ours-64-8-c1.json"}) {
    EXPECT_TRUE(fs::exists(dir_ / file)) << file;
  }
}

TEST_F(MatrixRuns, WarningsOfTheRunsStandOnceAndAreKept) {
  for (int round = 0; round < 2; ++round) {
    const std::string text = to_text(run(kTwoServers));
    EXPECT_TRUE(has(text, "Warnings\n  8 cells: shared processors\n  64/8, c=1, ours: a cache\n")) << text;
  }
}

TEST_F(MatrixRuns, KeepsWhatIsMeasuredAndMeasuresWhatHasChanged) {
  const Matrix first = run(kTwoServers);
  servers_.measured.clear();
  const Matrix again = run(kTwoServers);
  EXPECT_TRUE(servers_.measured.empty());
  EXPECT_TRUE(again.clean());
  EXPECT_TRUE(has(notes_, "h20-64-8-c1: measured before, kept"));
  EXPECT_EQ(to_csv(first), to_csv(again));

  std::string changed = kTwoServers;
  changed.replace(changed.find("http://127.0.0.1:1"), 18, "http://127.0.0.1:3");
  run(changed);
  EXPECT_EQ(servers_.measured, (std::vector<std::string>{"ours-64-8-c1", "ours-64-8-c2", "ours-32-16-c1", "ours-32-16-c2"}));
  EXPECT_TRUE(has(notes_, "ours-64-8-c1: measured again: its definition has changed"));
}

TEST_F(MatrixRuns, ABrokenResultIsMeasuredAgain) {
  run(kTwoServers);
  servers_.measured.clear();
  ASSERT_TRUE(write_file(dir_ / "cells/ours-64-8-c1.json", "{\"definition\": 1}"));
  ASSERT_TRUE(write_file(dir_ / "cells/h20-64-8-c2.json", "{"));
  run(kTwoServers);
  EXPECT_EQ(servers_.measured, (std::vector<std::string>{"ours-64-8-c1", "h20-64-8-c2"}));
}

TEST_F(MatrixRuns, ACellThatFailsLeavesTheOthersAndIsTriedAgain) {
  servers_.refuses = "ours-64-8-c2";
  servers_.fails_requests = "h20-32-16-c1";
  const Matrix matrix = run(kTwoServers);
  EXPECT_FALSE(matrix.clean());
  EXPECT_EQ(servers_.measured.size(), 8);
  const std::string text = to_text(matrix);
  EXPECT_TRUE(has(text, "64/8, c=2, ours: no server at http://127.0.0.1:1/v1")) << text;
  EXPECT_TRUE(has(text, "32/16, c=1, h20: 1 stalled of 4 requests")) << text;
  EXPECT_TRUE(has(text, "3/4")) << "what there was stays in the table";

  servers_.refuses.clear();
  servers_.fails_requests.clear();
  servers_.measured.clear();
  EXPECT_TRUE(run(kTwoServers).clean());
  EXPECT_EQ(servers_.measured, (std::vector<std::string>{"ours-64-8-c2", "h20-32-16-c1"}));
}

TEST_F(MatrixRuns, WhatStopsLeavesTheRestUnmeasured) {
  const std::atomic<bool> stop = true;
  events_.stop = &stop;
  const Matrix matrix = run(kTwoServers);
  EXPECT_TRUE(servers_.measured.empty());
  EXPECT_FALSE(matrix.clean());
  EXPECT_TRUE(has(to_text(matrix), "not measured: stopped"));
}

constexpr const char* kCommands = R"(
control: a
servers:
  - {name: a, command: [serve, a], url: "http://127.0.0.1:1", tokenizer: t}
  - {name: b, command: [serve, b], url: "http://127.0.0.1:2", tokenizer: t}
loads: [{prompt: 64, output: 8}]
parallel: [1, 2]
number: [2, 4]
)";

TEST_F(MatrixRuns, ACommandIsStartedOnceAndOnlyWhereACellIsToBeMeasured) {
  run(kCommands);
  EXPECT_EQ(servers_.started, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(servers_.running, 0);
  servers_.started.clear();
  fs::remove(dir_ / "cells/b-64-8-c2.json");
  run(kCommands);
  EXPECT_EQ(servers_.started, (std::vector<std::string>{"b"}));
}

TEST_F(MatrixRuns, ACommandThatDoesNotStartIsNotTriedForEveryCell) {
  servers_.start_fails = true;
  const Matrix matrix = run(kCommands);
  EXPECT_EQ(servers_.started, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(servers_.measured.empty());
  EXPECT_TRUE(has(to_text(matrix), "64/8, c=2, b: b: not ready after 1 s"));
}

TEST_F(MatrixRuns, AKeyThatIsNotThereIsTheCellsFault) {
  std::string yaml = kTwoServers;
  yaml.replace(yaml.find("tokenizer: t"), 12, "tokenizer: t, api-key-env: TEAPOT_TEST_NO_SUCH_KEY");
  const Matrix matrix = run(yaml);
  EXPECT_EQ(servers_.measured.size(), 4);
  EXPECT_TRUE(has(to_text(matrix), "TEAPOT_TEST_NO_SUCH_KEY is not set"));
}

TEST_F(MatrixRuns, AFolderThatCannotBeIsAnError) {
  ASSERT_TRUE(write_file(dir_, "a file"));
  const auto plan = parse_matrix_plan(kTwoServers, "m.yaml", "m");
  const auto matrix = run_matrix(*plan, dir_, servers_.tools(), events_);
  ASSERT_FALSE(matrix);
  EXPECT_EQ(matrix.error().kind, ErrorKind::kIo);
}

TEST_F(MatrixRuns, AllFormsOfTheTableAgree) {
  std::string yaml = kTwoServers;
  for (size_t at; (at = yaml.find("ours")) != yaml.npos;) yaml.replace(at, 4, "\"o|u,rs\"");
  servers_.tpot_ms = {{"h20-", 20}, {"o_u,rs-", 10}};
  const Matrix matrix = run(yaml);
  EXPECT_TRUE(has(to_csv(matrix), "\n64,8,1,\"o|u,rs\",0,4,4,")) << to_csv(matrix);
  EXPECT_TRUE(has(to_markdown(matrix), "| o\\|u,rs | 4/4 |"));
  EXPECT_TRUE(has(to_html(matrix), "<td>o|u,rs</td><td>4/4</td>"));
  std::istringstream lines(to_text(matrix));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 100) << line;
}

}  // namespace
}  // namespace teapot::workbench
