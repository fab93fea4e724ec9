// What all of a ladder's reports say, in words and figures.
#include <cmath>

#include "workbench/bench/figure_table.h"
#include "workbench/ladder/report.h"

namespace teapot::workbench {
namespace {

std::string change(const RatioFigures& figures) { return fmt::format("{:+.1f} %", change_percent(figures.log_ratio.mean)); }

std::string limits(double mean, double half_width) {
  if (std::isinf(half_width)) return "too few pairs";
  return fmt::format("{:+.1f} to {:+.1f}", change_percent(mean - half_width), change_percent(mean + half_width));
}

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : dump_json(value); }

LadderTable::Row row(const LadderStep& step, size_t loads) {
  LadderTable::Row result{.cells = {step_name(step)}, .verdict = step.verdict};
  auto& cells = result.cells;
  const bool whole = step.race.kind == LadderKind::kWhole;
  for (size_t load = 0; load < loads; ++load) {
    cells.push_back(step.measured() ? figure(step.loads[load].a_ms) + " → " + figure(step.loads[load].b_ms) : "-");
  }
  if (step.measured()) {
    const PairedFigures& pairs = step.mean.log_ratio;
    cells.push_back(change(step.mean));
    cells.push_back(limits(pairs.mean, whole ? pairs.half_width : step.mean.half_width));
    cells.push_back(fmt::format("{}", pairs.pairs));
  } else {
    cells.insert(cells.end(), {"-", "-", "0"});
  }
  std::string verdict(kLadderVerdictNames[static_cast<size_t>(step.verdict)]);
  if (!step.race.exact) verdict += ", not exact";
  cells.push_back(std::move(verdict));
  return result;
}

std::string whole_line(const LadderStep& step, const LadderOptions& options) {
  const PairedFigures& pairs = step.mean.log_ratio;
  std::string out = fmt::format("{}: TPOT {} ({}, Student's t, 95 %, {} pairs), {:.2f}x as fast;", step_name(step), change(step.mean),
                                limits(pairs.mean, pairs.half_width), pairs.pairs, std::exp(-pairs.mean));
  for (size_t load = 0; load < step.loads.size(); ++load) {
    out += fmt::format("{} c={} {:.2f}x", load == 0 ? "" : ",", options.concurrency[load], 1 / step.loads[load].ratio());
  }
  return out;
}

}  // namespace

std::string_view ladder_title(LadderKind kind) {
  switch (kind) {
    case LadderKind::kNull:
      return "All off against itself";
    case LadderKind::kClimb:
      return "From all off: each lever on top of those before it";
    case LadderKind::kDrop:
      return "From everything on: one lever off, against on";
    default:
      return "All off against all on";
  }
}

std::string step_name(const LadderStep& step) {
  switch (step.race.kind) {
    case LadderKind::kNull:
      return "all off, twice";
    case LadderKind::kWhole:
      return step.race.group == RungGroup::kMtp ? "all off → all on, with drafts" : "all off → all on";
    default:
      return fmt::format("{}: {} → {}", step.race.lever, step.race.from, step.race.to);
  }
}

LadderTable ladder_table(const Ladder& ladder, LadderKind kind) {
  LadderTable table{.heads = {"step"}, .rows = {}};
  for (const uint32_t c : ladder.options.concurrency) table.heads.push_back(fmt::format("c={}, ms", c));
  for (const char* head : {"change", "95 %", "pairs", "verdict"}) table.heads.emplace_back(head);
  for (const LadderStep& step : ladder.steps) {
    if (step.race.kind == kind) table.rows.push_back(row(step, ladder.options.concurrency.size()));
  }
  return table;
}

std::vector<std::string> ladder_settings(const LadderReport& report) {
  const LadderOptions& options = report.found.options;
  const Json conditions = report.conditions.is_object() ? report.conditions : Json::object();
  const Json host = conditions.value("host", Json::object());
  const auto said = [](const Json& json, const char* name) { return json.contains(name) ? plain(json[name]) : "-"; };
  std::vector<std::string> lines = {
      fmt::format("model: {}; {}", report.model, report.way),
      fmt::format("settings: c = {}; prompts of {} tokens, replies of {}; at most {} pairs a race; a chance of {:g} in {} that equal "
                  "settings are called different; {:g} % doesn't matter; drafts accepted: {}",
                  fmt::join(options.concurrency, ", "), said(conditions, "prompt"), said(conditions, "gen"), options.pairs, options.alpha,
                  options.all_races ? "all races together" : "each race", 100 * options.min_difference, said(conditions, "accept_rate")),
      fmt::format("host: {}, {}, {:.1f} GB, {}; Teapot {}, {}", said(host, "cpu"), said(host, "topology"),
                  host.value("memory_bytes", 0.0) / 1e9, said(host, "kernel"), said(conditions, "teapot"), said(conditions, "started"))};
  return lines;
}

std::vector<std::string> ladder_notes(const Ladder& ladder) {
  std::vector<std::string> notes;
  for (const LadderStep& step : ladder.steps) {
    const std::string name = step_name(step);
    if (!step.reason.empty()) {
      notes.push_back(fmt::format("{}: {}: {}", name, kLadderVerdictNames[static_cast<size_t>(step.verdict)], step.reason));
    } else if (step.race.kind == LadderKind::kClimb && step.active != step.race.to) {
      notes.push_back(fmt::format("{}: active is {}", name, step.active));
    }
    if (!step.race.exact && step.equal_tokens) {
      notes.push_back(
          fmt::format("{}: not exact, so the tokens' hash is no gate: they are {}", name, *step.equal_tokens ? "equal" : "others"));
    }
  }
  return notes;
}

std::vector<std::string> ladder_summary(const LadderReport& report) {
  const Ladder& ladder = report.found;
  std::vector<std::string> lines;
  if (ladder.end == LadderEnd::kRunning) lines.emplace_back("RUNNING, or killed: these are the steps so far; --resume goes on from here");
  if (ladder.end == LadderEnd::kInterrupted) lines.emplace_back("INTERRUPTED: --resume goes on from here");
  for (const LadderStep& step : ladder.steps) {
    if (step.race.kind == LadderKind::kNull && ladder.end == LadderEnd::kNullDiffers) {
      lines.push_back(
          fmt::format("STOPPED: all off differs from itself, by {} ({}) after {} pairs: no difference found here is the levers'; "
                      "--reload averages over loads",
                      change(step.mean), limits(step.mean.log_ratio.mean, step.mean.half_width), step.mean.log_ratio.pairs));
    }
    if (step.race.kind == LadderKind::kWhole && step.measured()) lines.push_back(whole_line(step, ladder.options));
  }
  if (ladder.smallest_difference) {
    lines.push_back(
        fmt::format("noise: {} pairs find, or exclude, about {:.1f} % of TPOT", ladder.options.pairs, 100 * *ladder.smallest_difference));
  }
  return lines;
}

std::vector<LadderLevel> waterfall(const Ladder& ladder) {
  std::vector<LadderLevel> levels;
  for (const LadderStep& step : ladder.steps) {
    if (step.race.kind != LadderKind::kClimb || !step.measured()) continue;
    if (levels.empty()) {
      LadderLevel& off = levels.emplace_back(LadderLevel{"all off", {}});
      for (const RatioFigures& load : step.loads) off.ms.push_back(load.a_ms);
    }
    LadderLevel next{step_name(step), levels.back().ms};
    for (size_t load = 0; load < step.loads.size(); ++load) next.ms[load] *= step.loads[load].ratio();
    levels.push_back(std::move(next));
  }
  return levels;
}

}  // namespace teapot::workbench
