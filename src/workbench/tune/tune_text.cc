#include <algorithm>
#include <cmath>

#include "workbench/bench/wrap.h"
#include "workbench/tune/confirm.h"
#include "workbench/tune/reports.h"

namespace teapot::workbench {
namespace {

std::string profile_text(const KnobProfile& profile) {
  if (profile.empty()) return "the catalogue's defaults";
  std::string text;
  for (const auto& [knob, value] : profile) text += (text.empty() ? "" : ", ") + name_of(knob, value);
  return text;
}

std::string row(const MoveVerdict& verdict) {
  const std::string effect =
      verdict.effect.pairs == 0 ? "" : fmt::format("{}, {} pairs", effect_text(verdict.effect), verdict.effect.pairs);
  std::string text = fmt::format("{}{}{}", kMoveStateNames[static_cast<size_t>(verdict.state)], effect.empty() ? "" : ": ", effect);
  if (verdict.phase != "ladder") text += " (" + verdict.phase + ")";
  if (!verdict.reason.empty()) text += "; " + verdict.reason;
  return wrap(fmt::format("  {:<34} ", name_of(verdict.knob, verdict.value, verdict.with)), text, 120);
}

std::string rows(std::string_view title, const SearchResult& result, const std::function<bool(const MoveVerdict&)>& belongs) {
  std::string out;
  for (const MoveVerdict& verdict : result.verdicts) {
    if (belongs(verdict)) out += row(verdict);
  }
  return out.empty() ? "" : fmt::format("\n{}\n{}", title, out);
}

}  // namespace

std::string effect_text(const Effect& effect) {
  if (std::isinf(effect.half_width)) return fmt::format("{:+.2f} %", effect.percent());
  return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f})", effect.percent(), effect.low_percent(), effect.high_percent());
}

std::string claim_text(const SearchResult& result) {
  if (result.end != SearchEnd::kDone) {
    return fmt::format("nothing is confirmed, the search did not come to its end: {}", result.end_reason);
  }
  const Confirmation* confirmed = result.confirmed();
  if (confirmed == nullptr) {
    return result.confirmations.empty() ? "no setting made the server faster by as much as could be found"
                                        : "what looked faster was not confirmed on fresh prompts: the base stays";
  }
  const PairedFigures& pairs = confirmed->pairs;
  return fmt::format("confirmed on fresh prompts: {:+.2f} % ({:+.2f} to {:+.2f}, Student's t over {} pairs that were fixed beforehand)",
                     pairs.percent(), pairs.low_percent(), pairs.high_percent(), pairs.pairs);
}

std::vector<std::pair<std::string, std::string>> confirmed_rows(const Confirmation& confirmation, const std::vector<uint32_t>& parallel) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (size_t i = 0; i < confirmation.loads.size(); ++i) {
    rows.emplace_back(fmt::format("TPOT with {} user{}", parallel[i], parallel[i] == 1 ? "" : "s"), change_text(confirmation.loads[i]));
  }
  rows.emplace_back("TTFT", change_text(confirmation.ttft));
  return rows;
}

std::string pairs_text(const TuneSession& session) {
  const uint32_t pairs = session.result.pairs, budget = std::max(session.result.budget_pairs, session.settings.search.budget.pairs);
  return budget == 0 ? fmt::format("{} pairs", pairs) : fmt::format("{} of {} pairs", pairs, budget);
}

std::string to_text(const TuneSession& session, bool color) {
  const SearchResult& result = session.result;
  const auto bold = [color](const std::string& text) { return color ? "\x1b[1m" + text + "\x1b[0m" : text; };
  const auto red = [color](const std::string& text) { return color ? "\x1b[31m" + text + "\x1b[0m" : text; };
  std::string out = bold(fmt::format("{}{}{}, {}, {:.0f} min", session.catalogue.server, result.version.empty() ? "" : " ", result.version,
                                     pairs_text(session), result.elapsed_s / 60)) +
                    "\n";
  out += rows("adopted", result, [](const MoveVerdict& verdict) { return verdict.adopted; });
  out += rows("did nothing, or too little", result, [](const MoveVerdict& verdict) {
    return verdict.state == MoveState::kNull || verdict.state == MoveState::kNotInForce || verdict.state == MoveState::kScreened ||
           verdict.state == MoveState::kInconclusive;
  });
  out += rows("slower", result, [](const MoveVerdict& verdict) { return verdict.state == MoveState::kLose; });
  out += rows("broke, or took no effect", result, [](const MoveVerdict& verdict) { return is_broken(verdict.state); });
  out += rows("refused", result, [](const MoveVerdict& verdict) { return verdict.state == MoveState::kRefused; });
  if (!result.pruned.empty()) out += "\nleft out again, one after the other: the winner against the simplest so far without it\n";
  for (const PruneVerdict& verdict : result.pruned) {
    const bool kept = verdict.state == MoveState::kWin || verdict.state == MoveState::kInconclusive;
    out +=
        wrap(fmt::format("  {:<34} ", name_of(verdict.knob, verdict.value)),
             fmt::format("{}{}{}",
                         kept                                ? "stays"
                         : verdict.state == MoveState::kNull ? "not noticed: the simplest profile is without it"
                                                             : "faster without it: it goes",
                         verdict.effect.pairs > 0 ? fmt::format("; {}, {} pairs", effect_text(verdict.effect), verdict.effect.pairs) : "",
                         verdict.reason.empty() ? "" : "; " + verdict.reason),
             120);
  }
  out += "\n";
  if (result.null.pairs > 0) {
    out += wrap("  A with A  ", fmt::format("{} pairs, {:+.2f} %, sd of a pair {:.2f} %, lag-1 {:.2f}", result.null.pairs,
                                            result.null.percent(), 100 * result.null.sd, result.null.lag1));
  }
  if (result.smallest_gain) {
    out += wrap("  limits    ",
                fmt::format("gains below about {:.2f} % could not have been found with this budget", 100 * *result.smallest_gain));
  }
  for (const std::string& warning : result.warnings) out += red(wrap("  warning   ", warning, 120));
  for (const std::string& note : result.host_notes) out += wrap("  host      ", note + ": not made from here", 120);
  out += wrap("  profile   ", profile_text(result.winner), 120);
  if (result.simplest != result.winner) out += wrap("  simplest  ", profile_text(result.simplest), 120);
  if (result.unconfirmed) out += wrap("  unconfirmed ", profile_text(*result.unconfirmed), 120);
  out += bold(wrap("  gain      ", claim_text(result)));
  if (result.confirmed() == nullptr) return out;
  for (const auto& [what, change] : confirmed_rows(*result.confirmed(), session.settings.search.parallel)) {
    out += fmt::format("            {:<18} {}\n", what, change);
  }
  return out;
}

}  // namespace teapot::workbench
