#include "workbench/ledger.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "temporary_folder.h"

namespace teapot::workbench {
namespace {

class LedgerTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder temporary_;
  std::string folder_ = temporary_ / "ledgers";
  std::string path_ = folder_ + "/deep/ledger.jsonl";
  Json settings_ = {{"alpha", 0.05}, {"parallel", {1, 4}}, {"a", {{"model", "m"}}}};
};

TEST_F(LedgerTest, GoesOnWhereItEndedAndHalfALineIsNone) {
  {
    auto ledger = Ledger::create(path_, settings_);
    ASSERT_TRUE(ledger) << ledger.error().message;
    ASSERT_TRUE(ledger->append({{"pair", 0}}));
    ASSERT_TRUE(ledger->append({{"pair", 1}}));
  }
  std::ofstream(path_, std::ios::app) << "{\"pair\": 2, \"tp";
  std::vector<Json> lines;
  {
    auto ledger = Ledger::resume(path_, settings_, lines);
    ASSERT_TRUE(ledger) << ledger.error().message;
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1]["pair"], 1);
    ASSERT_TRUE(ledger->append({{"pair", 2}}));
  }
  ASSERT_TRUE(Ledger::resume(path_, settings_, lines));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2]["pair"], 2);
}

TEST_F(LedgerTest, OtherSettingsAreRefusedByName) {
  ASSERT_TRUE(Ledger::create(path_, settings_));
  std::vector<Json> lines;
  const auto refusal = [&](const Json& settings) {
    const auto ledger = Ledger::resume(path_, settings, lines);
    return ledger ? "taken" : ledger.error().message;
  };
  Json other = settings_;
  other["alpha"] = 0.1;
  EXPECT_NE(refusal(other).find("alpha = 0.05, now 0.1"), std::string::npos) << refusal(other);
  other = settings_;
  other["more"] = true;
  EXPECT_NE(refusal(other).find("begun without more, now true"), std::string::npos) << refusal(other);
  other = settings_;
  other["a"]["model"] = "n";
  EXPECT_NE(refusal(other).find("a.model = \"m\", now \"n\""), std::string::npos) << refusal(other);
  other = settings_;
  other.erase("parallel");
  EXPECT_NE(refusal(other).find("parallel = [1,4], now without"), std::string::npos) << refusal(other);
  EXPECT_FALSE(Ledger::create(path_, settings_)) << "never written over";
  EXPECT_FALSE(expect_ledger(path_, /*resume=*/false));
  EXPECT_TRUE(expect_ledger(path_, /*resume=*/true));
  EXPECT_TRUE(expect_ledger(path_ + "x", /*resume=*/false));
  EXPECT_FALSE(expect_ledger(path_ + "x", /*resume=*/true));
  EXPECT_EQ(Ledger::resume(path_ + "x", settings_, lines).error().kind, ErrorKind::kNotFound);
}

TEST_F(LedgerTest, HasOneWriterAtATime) {
  std::vector<Json> lines;
  {
    const auto first = Ledger::create(path_, settings_);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = Ledger::resume(path_, settings_, lines);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kBusy);
    EXPECT_TRUE(second.error().message.starts_with(folder_ + "/deep: another process")) << second.error().message;
    EXPECT_TRUE(parse_ledger(read_file(path_).value(), path_)) << "reading goes on";
  }
  EXPECT_TRUE(Ledger::resume(path_, settings_, lines));
}

TEST_F(LedgerTest, WhereNoFileCanBeMadeNothingBegins) {
  EXPECT_TRUE(expect_ledger(path_, /*resume=*/false));
  EXPECT_FALSE(std::filesystem::exists(folder_)) << "nothing is left of the attempt";
  ASSERT_TRUE(write_file(folder_, "a file where a folder should be"));
  const Status refused = expect_ledger(path_, /*resume=*/false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
  EXPECT_NE(refused.error().message.find("ledger.jsonl: cannot be made: Not a directory"), std::string::npos) << refused.error().message;
}

TEST_F(LedgerTest, WhatIsNoLedgerIsNamedWithItsLine) {
  const auto message = [](std::string_view text) {
    const auto parsed = parse_ledger(text, "file");
    return parsed ? "sound" : parsed.error().message;
  };
  EXPECT_EQ(message("{\"settings\":{}}\n{}\n"), "sound");
  EXPECT_NE(message("").find("no whole line"), std::string::npos);
  EXPECT_NE(message("{\"settings\":{}}").find("no whole line"), std::string::npos);
  EXPECT_NE(message("{\"pair\":1}\n").find("line 1: no settings"), std::string::npos);
  EXPECT_NE(message("{\"settings\":{}}\n[1]\n").find("line 2: array"), std::string::npos);
  EXPECT_NE(message("{\"settings\":{}}\n{}\nnonsense\n").find("line 3"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
