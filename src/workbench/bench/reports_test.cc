#include "workbench/bench/reports.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "temporary_folder.h"
#include "workbench/bench/report_folder.h"
#include "workbench/bench/run_for_tests.h"

namespace teapot::workbench {
namespace {

namespace fs = std::filesystem;

class Reports : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  fs::path dir_ = folder_.path();
};

TEST(SummaryJson, HasEvalscopesNamesAndOurs) {
  const Json json = summary_json(run_for_tests({1, 4}, 10, 16));
  EXPECT_EQ(json["loads"].size(), 2);
  const Json& load = json["loads"][1];
  for (const char* key : {"Test Duration (s)",
                          "Concurrency",
                          "Request Rate (req/s)",
                          "Total Requests",
                          "Success Requests",
                          "Failed Requests",
                          "Stream Requests",
                          "Non-Stream Requests",
                          "Req Throughput (req/s)",
                          "Avg Latency (s)",
                          "Avg Input Tokens",
                          "Output Throughput (tok/s)",
                          "Total Throughput (tok/s)",
                          "Avg TTFT (ms)",
                          "Avg TPOT (ms)",
                          "Avg ITL (ms)",
                          "Avg Output Tokens",
                          "KV Cache Hit Rate (%)",
                          "Spec. Accept Rate",
                          "ttft_ms",
                          "tpot_ms",
                          "outcomes"}) {
    EXPECT_TRUE(load.contains(key)) << key;
  }
  EXPECT_EQ(load["Concurrency"], 4);
  EXPECT_EQ(load["Stream Requests"], 10);
  EXPECT_EQ(load["Spec. Accept Rate"], 0.5);
  EXPECT_NEAR(load["Avg TPOT (ms)"].get<double>(), load["tpot_ms"]["mean"].get<double>(), 1e-4);
  EXPECT_EQ(json["clean"], true);
  EXPECT_FALSE(load.contains("Avg Decoded Tok/Iter")) << "one token a chunk";
}

// Latencies 1 to 4 s: rank ceil(0.5 * 4) = 2, ceil(0.9 * 4) = 4.
TEST(SummaryJson, PercentilesUnderEvalscopesNamesAreByRank) {
  BenchRun run;
  std::vector<RequestRecord> records;
  for (const double seconds : {3, 1, 4, 2}) {
    records.push_back(reply({.start_ms = 0, .chunks_ms = {1, 500}, .last_ms = 500, .end_ms = 1000 * seconds, .tokens = 11}));
  }
  run.loads.push_back({summarise(load_of(records)), load_of(records)});
  const Json load = summary_json(run)["loads"][0];
  const Json& rows = load["percentiles"];
  ASSERT_EQ(rows.size(), 11);
  EXPECT_EQ(rows[0]["Percentiles"], "min");
  EXPECT_EQ(rows[0]["Latency (s)"], 1);
  EXPECT_EQ(rows[5]["Percentiles"], "50%");
  EXPECT_EQ(rows[5]["Latency (s)"], 2);
  EXPECT_EQ(rows[7]["Latency (s)"], 4);
  EXPECT_EQ(rows[10]["Percentiles"], "max");
  EXPECT_EQ(rows[10]["Total (tok/s)"], 111);
  EXPECT_EQ(rows[10]["Decode (tok/s)"], 20.0401) << "10 tokens in 499 ms";
  EXPECT_EQ(load["Avg Decoded Tok/Iter"], 10) << "11 tokens in two chunks";
}

TEST(RequestsJsonl, HasALineARequestWithNullsForWhatNeverCame) {
  BenchRun run = run_for_tests({2}, 3, 4);
  RequestRecord& failed = run.loads[0].result.records[1];
  failed = RequestRecord{};
  failed.index = 1;
  failed.outcome = Outcome::kConnect;
  failed.error = "connection refused";
  std::istringstream lines(requests_jsonl(run));
  std::vector<Json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0]["start_ms"], 0);
  EXPECT_EQ(rows[0]["ttft_ms"], 50);
  EXPECT_EQ(rows[0]["chunks_ms"].size(), 4);
  EXPECT_FALSE(rows[0].contains("chunk_tokens"));
  EXPECT_EQ(rows[1]["outcome"], "connect");
  EXPECT_EQ(rows[1]["error"], "connection refused");
  EXPECT_TRUE(rows[1]["first_ms"].is_null());
  EXPECT_TRUE(rows[1]["tpot_ms"].is_null());
}

// The one value of a query.
std::string ask(const fs::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::string value;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
    const auto* text = sqlite3_column_text(statement, 0);
    value = text == nullptr ? "null" : reinterpret_cast<const char*>(text);
  } else {
    value = sqlite3_errmsg(database);
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return value;
}

TEST_F(Reports, SqliteHoldsLoadsRequestsAndChunks) {
  BenchRun run = run_for_tests({1, 4}, 10, 16);
  run.loads[1].result.records[2].chunks[3].tokens = 2;
  run.loads[1].result.records[2].content = "it's \"quoted\"";
  const Status status = write_requests_sqlite(run, dir_ / "r.sqlite");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT count(*) FROM loads"), "2");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT count(*) FROM requests WHERE outcome = 'ok'"), "20");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT count(*) FROM chunks"), "320");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT tokens FROM chunks WHERE load = 1 AND request = 2 AND number = 3"), "2");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT tokens FROM chunks WHERE load = 1 AND request = 2 AND number = 4"), "null");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT content FROM requests WHERE load = 1 AND number = 2"), "it's \"quoted\"");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT first_ns - start_ns FROM requests WHERE load = 0 AND number = 0"), "50000000");
  EXPECT_EQ(ask(dir_ / "r.sqlite", "SELECT json_extract(conditions, '$.host.cores') FROM run"), "8");
}

TEST_F(Reports, SqliteTellsWhereItCannotWrite) {
  const Status status = write_requests_sqlite(run_for_tests({1}, 1, 1), dir_ / "absent" / "r.sqlite");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kIo);
  EXPECT_NE(status.error().message.find("r.sqlite: SQLite: unable to open"), std::string::npos) << status.error().message;
}

TEST_F(Reports, AFolderHasFourFilesAndASecondRunAFolderOfItsOwn) {
  BenchRun run = run_for_tests({1}, 3, 4);
  run.name = "a/b: c";
  const auto first = write_reports(run, dir_ / "out");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(*first, dir_ / "out" / "a_b__c");
  for (const char* file : {"summary.json", "requests.jsonl", "requests.sqlite", "report.html"}) {
    EXPECT_TRUE(fs::exists(fs::path(*first) / file)) << file;
  }
  const auto second = write_reports(run, dir_ / "out");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(*second, dir_ / "out" / "a_b__c-2");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_ / "out"), fs::directory_iterator()), 2) << "nothing unfinished stays";
}

TEST_F(Reports, WhereAFolderCannotBeTheErrorSaysSo) {
  ASSERT_TRUE(write_file(dir_ / "file", "x"));
  const auto written = write_reports(run_for_tests({1}, 1, 1), dir_ / "file");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kIo);
  EXPECT_NE(written.error().message.find("cannot be made"), std::string::npos);
}

// A limit on a file's size stands for a full disk: the same write fails in the same place.
TEST_F(Reports, AFullDiskIsAnErrorAndLeavesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t bytes : {rlim_t{100}, rlim_t{6000}, rlim_t{100'000}}) {
    rlimit little = before;
    little.rlim_cur = bytes;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
    const auto written = write_reports(run_for_tests({1}, 10, 16), dir_);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(written) << bytes;
    EXPECT_EQ(written.error().kind, ErrorKind::kIo) << written.error().message;
    EXPECT_TRUE(fs::is_empty(dir_)) << bytes;
  }
}

TEST(FolderName, IsOneComponentOfAPath) {
  EXPECT_EQ(folder_name("qwen 3.5"), "qwen_3.5");
  EXPECT_EQ(folder_name("../x\\y\n"), ".._x_y_");
  EXPECT_EQ(folder_name(""), "run");
  EXPECT_EQ(folder_name(".."), "run..");
  EXPECT_EQ(folder_name("Käthe"), "Käthe");
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ä";
  EXPECT_EQ(folder_name("a" + umlauts).size(), 199) << "not within a character";
}

TEST(ReportHtml, IsOneFileWithFiguresWarningsConditionsAndData) {
  BenchRun run = run_for_tests({1, 4}, 5, 8);
  run.name = "<run>";
  run.warnings = {"a </script> cache"};
  run.loads[1].result.records[0].outcome = Outcome::kStalled;
  run.loads[1].result.records[0].error = "nothing for 120 s";
  run.loads[1].summary = summarise(run.loads[1].result);
  const std::string html = report_html(run);
  for (const char* piece : {"<title>&lt;run&gt;</title>", "a &lt;/script&gt; cache", "c=4: 1 stalled, the first: nothing for 120 s",
                            "<th>mean</th><th>p50</th><th>p90</th><th>p95</th><th>p99</th><th>min</th><th>max</th>",
                            "<th scope=\"row\">TTFT ms</th><td>c=1</td>", "<th scope=\"row\">latency ms</th><td>c=1</td>",
                            "server.levers.gdn", "TPOT ms", "id=\"trace\"", "\"untraced\":0"}) {
    EXPECT_NE(html.find(piece), html.npos) << piece;
  }
}

TEST(ReportHtml, WithoutUsageTokensAreUnknown) {
  BenchRun run = run_for_tests({1}, 1, 8);
  run.loads[0].result.records[0].has_usage = false;
  run.loads[0].summary = summarise(run.loads[0].result);
  const std::string html = report_html(run);
  for (const char* piece : {"output tokens</th><td>mean</td><td>-</td>", "output tok/s</th><td></td><td>-</td>",
                            "tokens a chunk</th><td>mean</td><td>-</td>", "\"tokens\":[null]"}) {
    EXPECT_NE(html.find(piece), html.npos) << piece;
  }
}

TEST(ReportHtml, OfThreeHundredAndTwentyRequestsStaysSmall) {
  EXPECT_LT(report_html(run_for_tests({1, 4, 8, 16}, 80, 512)).size(), 3 << 20);
}

TEST(ReportHtml, TracesOfAHugeRunAreLeftOutAndCounted) {
  const std::string html = report_html(run_for_tests({8}, 2050, 512));
  EXPECT_LT(html.size(), 10 << 20);
  EXPECT_NE(html.find("\"untraced\":97"), html.npos) << "1953 replies of 512 chunks are within the million";
}

}  // namespace
}  // namespace teapot::workbench
