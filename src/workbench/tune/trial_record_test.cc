#include "workbench/tune/trial_record.h"

#include <gtest/gtest.h>

#include <sqlite3.h>

#include "temporary_folder.h"
#include "test_data.h"
#include "workbench/tune/reports.h"

namespace teapot::workbench {
namespace {

PairOutcome outcome() {
  PairOutcome outcome;
  for (Arm* arm : {&outcome.a, &outcome.b}) {
    arm->loads = {{.tpot_ms = 3, .ttft_ms = 40, .requests = 2}};
    arm->start_s = 2.5;
    arm->version = "double 1.0";
    arm->counters = {{"double:accepted", 4}, {"double:drafted", 9.5}};
  }
  return outcome;
}

TEST(TrialRecord, AnArmHasItsCountersAndItsVersion) {
  const Json json = to_json(outcome());
  EXPECT_EQ(json["a"]["counters"]["double:drafted"], 9.5);
  const auto again = parse_pair_outcome(json, {1});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
  Json wrong = json;
  wrong["b"]["counters"]["double:drafted"] = "many";
  EXPECT_EQ(parse_pair_outcome(wrong, {1}).error().message, "counters: double:drafted: string; expected a number");
}

TEST(TrialRecord, AnOlderLedgerHasNeither) {
  Json json = to_json(outcome());
  for (const char* arm : {"a", "b"}) {
    json[arm].erase("counters");
    json[arm].erase("version");
  }
  const auto old = parse_pair_outcome(json, {1});
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_TRUE(old->a.version.empty() && old->a.counters.empty());
  EXPECT_EQ(to_json(*old), json);
}

TEST(TrialRecord, AValidationKeepsItsNotes) {
  Validation validation;
  validation.notes = {"acceptance is not guarded"};
  validation.started = {{"config", {{"file", "0.config"}, {"hash", "00"}}}};
  const auto again = parse_validation(to_json(validation));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->notes, validation.notes);
  EXPECT_EQ(again->started, validation.started);
  EXPECT_FALSE(to_json(Validation()).contains("notes"));
}

std::string first_row(const std::string& file, const std::string& query) {
  sqlite3* database = nullptr;
  std::string row;
  if (sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK) {
    const auto add = [](void* out, int columns, char** values, char**) {
      for (int i = 0; i < columns; ++i) *static_cast<std::string*>(out) += fmt::format("{}|", values[i] == nullptr ? "NULL" : values[i]);
      return 1;
    };
    sqlite3_exec(database, query.c_str(), add, &row, nullptr);
  }
  sqlite3_close(database);
  return row;
}

TEST(TuneSqlite, HasStartsAndCounters) {
  TuneSession session;
  session.settings.fill = {{"model", "m"}};
  session.settings.search.parallel = {1};
  auto catalogue = load_catalogue(testing::test_data("tune/double.yaml"));
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  session.catalogue = *std::move(catalogue);
  Validation validation;
  validation.version = "double 1.0";
  validation.start_s = 4;
  session.lines = {{{"ask", ask_json(KnobProfile())}, {"answer", to_json(validation)}},
                   {{"ask", ask_json(PairRequest())}, {"answer", to_json(outcome())}}};
  const testing::TemporaryFolder folder;
  const std::string file = folder / "ledger.sqlite";
  const Status written = write_tune_sqlite(session, file);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(first_row(file, "SELECT * FROM starts WHERE trial = 0"), "0||4.0|none|double 1.0|");
  EXPECT_EQ(first_row(file, "SELECT * FROM starts WHERE trial = 1 AND arm = 'b'"), "1|b|2.5|none|double 1.0|");
  EXPECT_EQ(first_row(file, "SELECT growth FROM counters WHERE trial = 1 AND arm = 'a' AND name = 'double:drafted'"), "9.5|");
}

}  // namespace
}  // namespace teapot::workbench
