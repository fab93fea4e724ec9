#include <cmath>

#include "workbench/bench/compare_report.h"
#include "workbench/bench/wrap.h"

namespace teapot::workbench {
namespace {

std::string ratio_with_limits(const RatioFigures& figures) {
  if (std::isinf(figures.half_width)) return fmt::format("{:.4f} (too few pairs for limits)", figures.ratio());
  return fmt::format("{:.4f} ({:.4f} to {:.4f})", figures.ratio(), figures.low(), figures.high());
}

std::string row(std::string_view time, std::string_view users, const RatioFigures& figures) {
  const PairedFigures& pairs = figures.log_ratio;
  if (pairs.pairs == 0) return fmt::format("  {:<5} {:>5}   no pairs\n", time, users);
  const std::string limits =
      std::isinf(figures.half_width) ? "too few pairs" : fmt::format("{:.4f} to {:.4f}", figures.low(), figures.high());
  return fmt::format("  {:<5} {:>5} {:>10.3f} {:>10.3f} {:>8.4f}   {:<18} {:>7.2f} {:>7.2f}   {:.2g}\n", time, users, figures.a_ms,
                     figures.b_ms, figures.ratio(), limits, 100 * pairs.sd, pairs.lag1, figures.p);
}

std::string table(const CompareReport& report) {
  const Comparison& found = report.found;
  std::string out = fmt::format("  {:<5} {:>5} {:>10} {:>10} {:>8}   {:<18} {:>7} {:>7}   {}\n", "", "users", "A ms", "B ms", "B / A",
                                fmt::format("{:g} % sequence", 100 * (1 - report.options.alpha)), "sd %", "lag-1", "p");
  for (const auto& [name, time] : {std::pair{"TPOT", &TimeFigures::tpot}, {"TTFT", &TimeFigures::ttft}}) {
    for (size_t load = 0; load < found.loads.size(); ++load) {
      out += row(name, fmt::format("{}", report.options.parallel[load]), found.loads[load].*time);
    }
    if (found.loads.size() > 1) out += row(name, "all", found.mean.*time);
  }
  return out;
}

std::string null_text(const CompareReport& report) {
  const Comparison& found = report.found;
  const uint32_t pairs = found.null.tpot.log_ratio.pairs;
  if (pairs == 0) return "not measured";
  std::string out =
      fmt::format("{} pairs, TPOT {}, TTFT {}", pairs, ratio_with_limits(found.null.tpot), ratio_with_limits(found.null.ttft));
  if (!found.smallest_difference) return out;
  return out + fmt::format("; a pair's sd is {:.2f} %, so {} pairs find, or exclude, about {:.2f} %", 100 * found.null.tpot.log_ratio.sd,
                           report.options.pairs, 100 * *found.smallest_difference);
}

std::string replies_text(const Comparison& found) {
  const ReplyDifference& replies = found.replies;
  if (replies.compared == 0) return "not compared: that takes one model's name, the same prompts and temperature 0";
  if (replies.different == 0) return fmt::format("all {} greedy replies are equal", replies.compared);
  std::string out = fmt::format("{} of {} greedy replies DIFFER", replies.different, replies.compared);
  if (!replies.first) return out;
  const FirstDifference& first = *replies.first;
  out += fmt::format("; the first one after {} characters", first.character);
  if (first.token) out += fmt::format(" ({} tokens)", *first.token);
  return out + fmt::format(": A goes on with {}, B with {}", dump_json(first.a), dump_json(first.b));
}

std::string server_text(const Json& server) {
  std::string out;
  for (const char* name : {"url", "path", "model", "version"}) {
    if (!server.is_object() || !server.contains(name) || server[name].is_null()) continue;
    out += (out.empty() ? "" : ", ") + (server[name].is_string() ? server[name].get<std::string>() : dump_json(server[name]));
  }
  return out.empty() ? "?" : out;
}

}  // namespace

std::string verdict_text(const CompareOptions& options, const Comparison& found) {
  const RatioFigures& tpot = found.mean.tpot;
  const uint32_t pairs = tpot.log_ratio.pairs;
  switch (found.end) {
    case CompareEnd::kNullDiffers:
      return fmt::format("STOPPED: A differs from itself, TPOT {} after {} pairs (p = {:.2g}): no difference found here is the servers'",
                         ratio_with_limits(found.null.tpot), found.null.tpot.log_ratio.pairs, found.null.tpot.p);
    case CompareEnd::kFaults:
      return fmt::format("STOPPED: {} pairs with faults; the first: {}", found.faulty, found.first_fault);
    default:
      break;
  }
  const std::string before = found.end == CompareEnd::kInterrupted ? "INTERRUPTED; so far " : "";
  const double change = std::abs(tpot.log_ratio.percent());
  switch (found.verdict) {
    case Verdict::kBetter:
      return before + fmt::format("B is better: its TPOT is {:.2f} % below A's, B / A = {} after {} pairs (p = {:.2g})", change,
                                  ratio_with_limits(tpot), pairs, tpot.p);
    case Verdict::kWorse:
      return before + fmt::format("B is worse: its TPOT is {:.2f} % above A's, B / A = {} after {} pairs (p = {:.2g})", change,
                                  ratio_with_limits(tpot), pairs, tpot.p);
    case Verdict::kNoDifference:
      return before + fmt::format("no difference of {:g} % or more: B / A = {} after {} pairs", 100 * options.min_difference,
                                  ratio_with_limits(tpot), pairs);
    case Verdict::kUndecided:
      break;
  }
  if (pairs == 0) return before + "undecided: no pair of A and B was finished";
  return before + fmt::format("undecided after {} pairs: B / A = {}", pairs, ratio_with_limits(tpot));
}

std::string gate_text(const Comparison& found) {
  if (!found.gate) return "";
  const double low = found.mean.tpot.low(), high = found.mean.tpot.high();
  if (found.gate->passed) return fmt::format("passed: the upper limit of B / A, {:.4f}, is at most {:g}", high, found.gate->target);
  const std::string upper = std::isinf(high) ? "there is no upper limit yet" : fmt::format("the upper limit of B / A is {:.4f}", high);
  return fmt::format("NOT PASSED: {}; expected at most {:g}{}", upper, found.gate->target,
                     found.gate->excluded ? fmt::format(", and even the lower limit is {:.4f}", low) : "");
}

std::string to_text(const CompareReport& report, bool color) {
  const Comparison& found = report.found;
  const auto red = [color](const std::string& text) { return color ? "\x1b[31m" + text + "\x1b[0m" : text; };
  const auto bold = [color](const std::string& text) { return color ? "\x1b[1m" + text + "\x1b[0m" : text; };
  std::string out = bold(report.name) + "\n\n";
  for (const char* server : {"A", "B"}) {
    out += wrap(fmt::format("  {:<9} ", server), server_text(report.conditions.value(server, Json())));
  }
  out += wrap("  A with A  ", null_text(report));
  out += "\n" + table(report) + "\n";
  out += wrap("  replies   ", replies_text(found));
  for (const auto* warnings : {&report.warnings, &found.warnings}) {
    for (const std::string& warning : *warnings) out += red(wrap("  warning   ", warning));
  }
  out += bold(wrap("  verdict   ", verdict_text(report.options, found)));
  if (found.gate) out += bold(wrap("  gate      ", gate_text(found)));
  const PairedFigures& pairs = found.mean.tpot.log_ratio;
  if (report.options.all_pairs && found.end == CompareEnd::kUsedUp && pairs.pairs >= 2) {
    out += wrap("  estimate  ", fmt::format("B / A = {:.4f} ({:.4f} to {:.4f}, Student's t over the {} pairs that were fixed beforehand)",
                                            std::exp(pairs.mean), std::exp(pairs.mean - pairs.half_width),
                                            std::exp(pairs.mean + pairs.half_width), pairs.pairs));
  } else if (found.end == CompareEnd::kDecided) {
    out += wrap("            ",
                "The limits hold wherever the run ends; the ratio itself is exaggerated on average by an early end: --all-pairs, with "
                "another seed, estimates it.");
  }
  out +=
      "\nd = ln(B / A) of the turns' mean times in each pair; A ms, B ms: geometric means; all: mean of d over the numbers of users, "
      "which the verdict is about.\n";
  return out;
}

}  // namespace teapot::workbench
