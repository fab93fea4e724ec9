// A ladder for its readers: terminal, documents, programs, browser.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/ladder/ladder.h"

namespace teapot::workbench {

struct LadderReport {
  std::string model, way;  // path; how settings were loaded
  Json conditions;
  Ladder found;
  std::vector<std::string> warnings;
};

// TPOT after each rung that was measured, from all off: the time before the first, times the rungs' ratios, so that what the host does
// between two races is not in it. [levels][concurrency]
struct LadderLevel {
  std::string label;
  std::vector<double> ms;
};
std::vector<LadderLevel> waterfall(const Ladder& ladder);

// A step in words: "plan: eager -> dynamic".
std::string step_name(const LadderStep& step);

// The steps of one kind as rows of text under heads that depend on the numbers of sequences. bad: refused or broken.
struct LadderTable {
  struct Row {
    std::vector<std::string> cells;  // [heads]
    LadderVerdict verdict;
  };
  std::vector<std::string> heads;
  std::vector<Row> rows;
};
LadderTable ladder_table(const Ladder& ladder, LadderKind kind);
// Model, settings and host, a line each.
std::vector<std::string> ladder_settings(const LadderReport& report);
// One line a step that isn't a plain figure: why it was refused, what broke it, that it isn't exact.
std::vector<std::string> ladder_notes(const Ladder& ladder);
// What was gained in all, one line a "whole" race, and what ended the ladder early.
std::vector<std::string> ladder_summary(const LadderReport& report);

Json to_json(const LadderReport& report);
std::string to_text(const LadderReport& report);
std::string to_markdown(const LadderReport& report);
std::string ladder_html(const LadderReport& report);

// ladder.json, ladder.md and ladder.html in this folder; each is whole at any time.
Status write_ladder_reports(const LadderReport& report, const std::string& folder);

// The title of a kind's table.
std::string_view ladder_title(LadderKind kind);
inline constexpr std::string_view kLadderNote =
    "before and after: geometric means of TPOT in ms; change: of their mean over the numbers of sequences, with the 95 % sequence, which "
    "holds wherever a race ends; verdict: by the e-process. A change that was stopped at is exaggerated on average: what was gained in "
    "all is measured anew, over a number of pairs that is fixed beforehand.";

}  // namespace teapot::workbench
