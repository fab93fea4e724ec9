// What a session writes and reads again, and what its reports say.
#include "workbench/tune/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "temporary_folder.h"
#include "test_data.h"
#include "workbench/ledger.h"
#include "workbench/tune/double_for_tests.h"
#include "workbench/tune/recorded_trials.h"
#include "workbench/tune/reports.h"
#include "workbench/tune/server_start.h"
#include "workbench/tune/trial_record.h"

namespace teapot::workbench {
namespace {

TuneSettings settings() {
  TuneSettings settings;
  settings.catalogue = "double.yaml";
  settings.fill = {{"model", "m"}};
  settings.search.budget.pairs = 90;
  settings.search.seed = 7;
  settings.search.knobs = {"threads", "comm", "kv_type", "page_size"};
  settings.search.base = {{"threads", "1"}, {"alloc", std::nullopt}};
  settings.host = {{"cpu", "none"}};
  return settings;
}

class Session : public ::testing::Test {
 protected:
  // As `teapot tune` leaves it, but for the servers: they are the formula.
  std::string make_session(const std::string& name, const DoubleTrials::World& world = {}, const TuneSettings& begun = settings()) const {
    std::string folder = folder_ / name;
    const auto text = read_catalogue(testing::test_data("tune/double.yaml"));
    EXPECT_TRUE(text && begin_session(folder, begun, *text));
    const auto catalogue = parse_catalogue(text->yaml, text->source);
    std::vector<Json> lines;
    auto ledger = Ledger::resume(folder + "/ledger.jsonl", to_json(begun), lines);
    EXPECT_TRUE(ledger) << ledger.error().message;
    DoubleTrials live(*catalogue, settings().search.parallel, 7, world);
    RecordedTrials trials({}, settings().search.parallel, "h", &live, [&](const Json& line) { return ledger->append(line); });
    const auto result = search(*catalogue, settings().search, trials, {});
    EXPECT_TRUE(result) << result.error().message;
    return folder;
  }

  testing::TemporaryFolder folder_;
};

TEST(TuneSettings, AreReadAsTheyWereWritten) {
  const auto again = parse_tune_settings(to_json(settings()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(settings()));
  TuneSettings with_host = settings();
  with_host.search.host = {{"all_cpus", "2"}};
  EXPECT_EQ(parse_tune_settings(to_json(with_host))->search.host, with_host.search.host);
  for (const auto& [field, wrong] : std::vector<std::pair<const char*, Json>>{{"parallel", {0}},
                                                                              {"parallel", Json::array()},
                                                                              {"objective", "speed"},
                                                                              {"allow_text", 1},
                                                                              {"fill", {{"model", 2}}},
                                                                              {"host_values", {{"all_cpus", 2}}},
                                                                              {"base", {{"threads", 8}}},
                                                                              {"knobs", "threads"},
                                                                              {"extra_args", 3}}) {
    Json json = to_json(settings());
    json[field] = wrong;
    const auto refused = parse_tune_settings(json);
    ASSERT_FALSE(refused) << field;
    EXPECT_NE(refused.error().message.find(std::string(field) == "base" ? "threads" : field), std::string::npos) << refused.error().message;
  }
}

TEST(TrialRecord, AnswersAreReadAsTheyWereWritten) {
  Validation validation;
  validation.fault = TrialFault::kHang;
  validation.what = "no answer";
  validation.version = "1";
  validation.start_s = 2.5;
  validation.replies = {"one", "two"};
  validation.evidence = {{"threads", Seen::kNo, "a page"}};
  validation.started = {{"args", {"a"}}};
  const auto seen = parse_validation(to_json(validation));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(to_json(*seen), to_json(validation));

  PairOutcome outcome;
  for (Arm* arm : {&outcome.a, &outcome.b}) {
    arm->loads = {{.tpot_ms = 3, .ttft_ms = 40, .requests = 2, .drafted = 9, .accepted = 4}, {.tpot_ms = 4, .ttft_ms = 50, .requests = 8}};
    arm->hash = "00";
  }
  outcome.a.probe_ms = 3.5;
  outcome.read_gbs = 20;
  const auto pair = parse_pair_outcome(to_json(outcome), {1, 4});
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(to_json(*pair), to_json(outcome));
  EXPECT_FALSE(parse_pair_outcome(to_json(outcome), {1, 4, 8})) << "a load is missing";
  outcome.b.fault = TrialFault::kCrash;
  outcome.a.loads.clear();
  EXPECT_TRUE(parse_pair_outcome(to_json(outcome), {1, 4, 8})) << "after a fault nothing else is asked for";
  Json json = to_json(outcome);
  json["b"]["fault"] = "tired";
  EXPECT_NE(parse_pair_outcome(json, {1, 4}).error().message.find("fault: 'tired'"), std::string::npos);
}

TEST_F(Session, ItsReportsSayWhatItFound) {
  const std::string folder = make_session("tune_session");
  const auto session = read_session(folder);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->result.end, SearchEnd::kDone) << session->result.end_reason;
  EXPECT_EQ(session->result.winner, (KnobProfile{{"threads", "8"}, {"comm", "aiv"}}));

  const auto json = result_json(*session);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["profile"], Json({{"comm", "aiv"}, {"threads", "8"}}));
  EXPECT_EQ((*json)["args"], Json({"double", "--model", "m", "--port", "{port}", "--threads", "8"}));
  EXPECT_EQ((*json)["env"], Json({{"DOUBLE_COMM", "aiv"}}));
  EXPECT_EQ((*json)["confirmed"]["pairs"], 16);
  EXPECT_LT((*json)["confirmed"]["high"], 0);
  ASSERT_EQ((*json)["confirmed"]["loads"].size(), 3u);
  EXPECT_EQ((*json)["confirmed"]["loads"][1]["users"], 4);
  EXPECT_LT((*json)["confirmed"]["loads"][1]["high"], 0);
  EXPECT_TRUE((*json)["confirmed"]["ttft"]["change_percent"].is_number());
  EXPECT_FALSE(json->contains("unconfirmed"));

  const std::string text = to_text(*session, /*color=*/false);
  for (const char* part : {"confirmed on fresh prompts: -", "threads = 8", "broken (text)", "A with A  ", "TPOT with 4 users  -"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  const std::string html = tune_html(*session);
  EXPECT_NE(html.find("<th scope=\"row\">comm = aiv</th><td class=\"good\">win</td>"), std::string::npos);
  EXPECT_NE(html.find("\"kind\":\"aa\""), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">TPOT with 4 users</th><td>-"), std::string::npos);

  ASSERT_TRUE(write_file(folder + "/ledger.sqlite.part", "half of a file that was being written")) << "by a program that was killed";
  for (int i = 0; i < 2; ++i) {
    const Status written = write_tune_reports(*session);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_TRUE(read_file(folder + "/ledger.sqlite").value().starts_with("SQLite format 3"));
    EXPECT_FALSE(std::filesystem::exists(folder + "/ledger.sqlite.part"));
  }
  const auto files = export_profiles(*session, 8123);
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 4u);
  EXPECT_EQ(read_file(folder + "/winner.env").value(), "DOUBLE_COMM=aiv\n");
  EXPECT_NE(read_file(folder + "/winner.sh").value().find("exec double --model m --port 8123 --threads 8 \"$@\"\n"), std::string::npos);
  EXPECT_NE(why_text(session->catalogue, *session->catalogue.find("comm"), &*session).find("win"), std::string::npos);
}

TEST_F(Session, WhatDidNotComeToItsEndIsNotConfirmedAnywhere) {
  const std::string folder = make_session("tune_unfinished", {.stop_after = 60});
  const auto session = read_session(folder);
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_EQ(session->result.end, SearchEnd::kInterrupted);
  const auto json = result_json(*session);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["profile"], Json({{"threads", "1"}}));
  EXPECT_EQ((*json)["simplest"], Json({{"threads", "1"}}));
  EXPECT_EQ((*json)["unconfirmed"]["threads"], "8");
  EXPECT_TRUE((*json)["confirmed"]["change_percent"].is_null());
  EXPECT_NE(tune_html(*session).find("The best so far, not confirmed"), std::string::npos);
  EXPECT_NE(to_text(*session, /*color=*/false).find("  unconfirmed "), std::string::npos);

  const auto files = export_profiles(*session, 8123);
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 6u);
  for (const char* name : {"/winner.sh", "/simplest.sh", "/unconfirmed.sh"}) {
    const std::string script = read_file(folder + name).value();
    EXPECT_NE(script.find("nothing is confirmed"), std::string::npos) << script;
    EXPECT_EQ(script.find("--threads 8") != std::string::npos, std::string(name) == "/unconfirmed.sh") << script;
  }
}

TEST_F(Session, OneFolderHasOneSession) {
  const std::string folder = make_session("tune_twice");
  const auto text = read_catalogue(testing::test_data("tune/double.yaml"));
  const Status again = begin_session(folder, settings(), *text);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("exists already; `teapot tune resume " + folder + "` goes on"), std::string::npos)
      << again.error().message;
  EXPECT_FALSE(read_session(folder + "_not_there"));
}

TEST_F(Session, WhatAtSignsStandForComesFromTheLedger) {
  TuneSettings elsewhere = settings();
  elsewhere.search.host = {{"physical_cores", "6400"}, {"jemalloc", "/there/libjemalloc.so.2"}};
  std::string folder = make_session("tune_elsewhere", {}, elsewhere);
  const auto session = read_session(folder);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->settings.search.host, elsewhere.search.host);
  const auto warned = [](const TuneSession& of) {
    return std::ranges::any_of(of.result.warnings, [](const std::string& text) { return text.contains("without its host's values"); });
  };
  EXPECT_FALSE(warned(*session));

  folder = make_session("tune_of_old");
  const auto old = read_session(folder);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_TRUE(old->settings.search.host.contains("physical_cores"));
  EXPECT_TRUE(warned(*old));
}

TEST_F(Session, AYoungOneSaysHowFarItIs) {
  const std::string folder = folder_ / "tune_young";
  const auto text = read_catalogue(testing::test_data("tune/double.yaml"));
  TuneSettings timed = settings();
  timed.search.budget = {.pairs = 0, .seconds = 60};
  for (const auto& [begun, said] : {std::pair{settings(), "0 of 90 pairs"}, {timed, "0 pairs"}}) {
    ASSERT_TRUE(begin_session(folder, begun, *text));
    const auto session = read_session(folder);
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(pairs_text(*session), said);
    EXPECT_NE(to_text(*session, /*color=*/false).find(fmt::format(", {}, ", said)), std::string::npos);
    std::filesystem::remove_all(folder);
  }
}

TEST_F(Session, ABaseThatCannotBeStartedIsRefusedBeforeAnythingIsMade) {
  const auto catalogue = load_catalogue(testing::test_data("tune/double.yaml"));
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  const auto fault = [&](const KnobProfile& base) {
    TuneSettings from = settings();
    from.search.base = base;
    const Status good = check_base(*catalogue, from);
    return good ? "" : good.error().message;
  };
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({{"threads", "3"}}), "") << "a value that the catalogue doesn't have";
  EXPECT_EQ(fault({{"threads", "abc"}}), "--from: threads: found 'abc', expected a whole number");
  EXPECT_EQ(fault({{"threads", "@towers"}}), "--from: threads: this machine has no @towers");
  EXPECT_EQ(fault({{"bind", "core"}, {"threads", "16"}}), "--from: bind = core conflicts with threads = 16");
  EXPECT_EQ(fault({{"static_kernel", "on"}}), "--from: static_kernel = on requires graph = full");
  EXPECT_EQ(fault({{"static_kernel", "on"}, {"graph", "full"}}), "");
}

TEST_F(Session, NoNumberOfUsersStandsTwice) {
  const auto catalogue = load_catalogue(testing::test_data("tune/double.yaml"));
  SearchOptions options = settings().search;
  options.parallel = {1, 4, 4};
  EXPECT_EQ(check(*catalogue, options).error().message, "--parallel: 4 stands there twice");
}

TEST(ServerStart, ReadsItsCataloguesWords) {
  EXPECT_EQ(end_timeout_of("SIGTERM, wait 30 s, SIGKILL").count(), 30);
  EXPECT_EQ(end_timeout_of("SIGTERM").count(), 45);
  EXPECT_EQ(target_of("GET /server_info (version)"), "/server_info");
  EXPECT_EQ(target_of("GET /health"), "/health");
  EXPECT_EQ(target_of("llama-server --version"), "");
}

}  // namespace
}  // namespace teapot::workbench
