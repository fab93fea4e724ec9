#include "workbench/trace/report_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "workbench/trace/advice.h"
#include "workbench/trace/ranks.h"
#include "workbench/trace/report_figures.h"

namespace teapot::workbench::trace {
namespace {

constexpr size_t kBar = 60;
constexpr size_t kMaxBars = 16;
constexpr size_t kTopOperators = 5;  // of each class
constexpr size_t kTopGaps = 12, kTopCollectives = 8, kTopChanges = 15;
constexpr size_t kName = 56;
constexpr std::array<char, kClasses> kLetters = {'u', 'h', 's', 'c', 'B', 'g', 'm', '?'};

// One letter a piece of the bar; the pieces are where the sums of classes lie, so that the bar is always full.
std::string bar(const ClassTimes& ns, int64_t wall, int64_t longest) {
  std::string result;
  const size_t length =
      longest == 0
          ? 0
          : static_cast<size_t>(std::llround(static_cast<double>(kBar) * static_cast<double>(wall) / static_cast<double>(longest)));
  int64_t sum = 0;
  for (size_t c = 0; c < kClasses && wall > 0; ++c) {
    sum += ns[c];
    const auto until =
        static_cast<size_t>(std::llround(static_cast<double>(length) * static_cast<double>(sum) / static_cast<double>(wall)));
    result.append(until - std::min(until, result.size()), kLetters[c]);
  }
  return result;
}

void add_head(const Analysis& analysis, std::string& text) {
  text += fmt::format("{}: {}, rank {}{}; {} steps {}, {} whole, {:.1f} us each\n", analysis.input, analysis.format, analysis.rank,
                      analysis.device ? fmt::format(" (device {} of the file)", *analysis.device) : "", analysis.steps.size(),
                      analysis.by_repetition ? "by repetition of kernels" : "by markers", analysis.any_complete ? analysis.counted : 0,
                      per_step(analysis, us(analysis.counted_wall_ns())));
  for (const std::string& warning : warning_texts(analysis)) text += "warning: " + warning + "\n";
}

void add_bars(const Analysis& analysis, std::string& text) {
  int64_t longest = 0;
  for (const StepTimes& step : analysis.steps) longest = std::max(longest, step.wall_ns());
  text += "\n";
  for (size_t i = 0; i < std::min(analysis.steps.size(), kMaxBars); ++i) {
    const StepTimes& step = analysis.steps[i];
    text += fmt::format("step {:<6} {:>10.1f} us  {}{}{}\n", step.step.id, us(step.wall_ns()), bar(step.ns, step.wall_ns(), longest),
                        step.step.kind.empty() ? "" : "  " + step.step.kind, step.step.complete ? "" : "  (not whole)");
  }
  if (analysis.steps.size() > kMaxBars) text += fmt::format("... and {} steps more\n", analysis.steps.size() - kMaxBars);
  ClassTimes mean = analysis.counted_ns;
  for (int64_t& ns : mean) ns /= static_cast<int64_t>(std::max<uint64_t>(analysis.counted, 1));
  const int64_t wall = analysis.counted_wall_ns() / static_cast<int64_t>(std::max<uint64_t>(analysis.counted, 1));
  text += fmt::format("mean        {:>10.1f} us  {}\n\n", us(wall), bar(mean, wall, longest));
}

void add_classes(const Analysis& analysis, std::string& text) {
  text += fmt::format("{:<2} {:<13} {:>10} {:>6}  {}\n", "", "class", "us a step", "%", "the device ...");
  for (size_t c = 0; c < kClasses; ++c) {
    const auto kind = static_cast<Class>(c);
    if (kind == Class::kUnattributed && analysis.counted_ns[c] == 0) continue;
    text += fmt::format("{:<2} {:<13} {:>10.1f} {:>6.1f}  {}\n", kLetters[c], kClassNames[c],
                        per_step(analysis, us(analysis.counted_ns[c])), share(analysis, analysis.counted_ns[c]), meaning_of(kind));
  }
  int64_t bytes = 0;
  uint64_t steps = 0;
  for (const StepTimes& step : analysis.steps) {
    if (!analysis.counts(step) || !step.weight_bytes) continue;
    bytes += *step.weight_bytes;
    ++steps;
  }
  if (steps == 0) return;
  const double mean = static_cast<double>(bytes) / static_cast<double>(steps);
  text += fmt::format("\nweights: {:.1f} MB a step", mean / 1e6);
  if (!analysis.roof_gbps) {
    text += "; with --roof GB/s this becomes a floor\n";
    return;
  }
  const double floor = mean / *analysis.roof_gbps / 1000,
               owned = per_step(analysis, us(analysis.counted_ns[static_cast<size_t>(Class::kBandwidth)]));
  text += fmt::format(", at {:g} GB/s {:.1f} us: {:.1f} % of the roof, {:.1f} us above the floor\n", *analysis.roof_gbps, floor,
                      owned == 0 ? 0 : 100 * floor / owned, owned - floor);
  if (owned > 0 && floor > owned) text += "  over 100 %: shapes do not explain these kernels\n";
}

void add_kinds(const Analysis& analysis, std::string& text) {
  const std::vector<KindTimes> kinds = kinds_of(analysis);
  if (kinds.empty()) return;
  text += fmt::format("\n{:<15} {:>6} {:>10}", "kind of step", "steps", "us each");
  for (size_t c = 0; c < kClasses; ++c) text += fmt::format(" {:>11}%", kClassNames[c]);
  text += "\n";
  for (const KindTimes& kind : kinds) {
    text += fmt::format("{:<15} {:>6} {:>10.1f}", kind.kind, kind.steps, us(kind.wall_ns) / static_cast<double>(kind.steps));
    for (const int64_t ns : kind.ns) text += fmt::format(" {:>12.1f}", 100 * static_cast<double>(ns) / static_cast<double>(kind.wall_ns));
    text += "\n";
  }
}

void add_own(const Analysis& analysis, std::string& text) {
  const std::vector<std::string> facts = own_facts(analysis);
  if (!facts.empty()) text += "\n";
  for (const std::string& fact : facts) text += fact + "\n";
}

void add_operators(const Analysis& analysis, std::string& text) {
  text += fmt::format("\n{:<{}} {:>7} {:>10} {:>10} {:>8} {:>7}\n", "operators, by class", kName + 2, "calls", "us", "not hidden", "MB",
                      "roof %");
  for (size_t c = 0; c < kClasses; ++c) {
    size_t shown = 0, left = 0;
    for (const Operator& op : analysis.operators) {
      if (op.kind != static_cast<Class>(c)) continue;
      if (shown == kTopOperators) {
        ++left;
        continue;
      }
      if (shown++ == 0) text += fmt::format("{}\n", kClassNames[c]);
      const double steps = static_cast<double>(std::max<uint64_t>(analysis.counted, 1));
      std::string megabytes, roof;
      if (op.bytes > 0) megabytes = fmt::format("{:.2f}", static_cast<double>(op.bytes) / steps / 1e6);
      if (op.bytes > 0 && analysis.roof_gbps && op.kind == Class::kBandwidth) {
        const double percent = 100 * static_cast<double>(op.bytes) / static_cast<double>(op.bytes_ns) / *analysis.roof_gbps;
        roof = percent > 100 ? ">100 *" : fmt::format("{:.0f}", percent);
      }
      text += fmt::format("  {:<{}} {:>7.1f} {:>10.1f} {:>10.1f} {:>8} {:>7}\n", short_name(op.name, kName), kName,
                          static_cast<double>(op.calls) / steps, per_step(analysis, us(op.ns)), per_step(analysis, us(op.owned_ns)),
                          megabytes, roof);
    }
    if (left > 0) text += fmt::format("  ... and {} more\n", left);
  }
  if (text.find(">100 *") != text.npos) text += "* shapes do not explain this kernel\n";
}

void add_gaps(const Analysis& analysis, std::string& text) {
  if (analysis.gaps.empty()) return;
  text += fmt::format("\n{:<{}} {:>7} {:>10} {:>6}\n", "while the device was idle", kName + 12, "times", "us a step", "%");
  for (size_t i = 0; i < std::min(analysis.gaps.size(), kTopGaps); ++i) {
    const Gap& gap = analysis.gaps[i];
    const std::string what =
        gap.name.empty() ? std::string(name_of(gap.cause)) : fmt::format("{} {}", name_of(gap.cause), short_name(gap.name, kName - 24));
    text += fmt::format("{:<11} {:<{}} {:>7.1f} {:>10.1f} {:>6.1f}\n", name_of(gap.kind), what, kName,
                        static_cast<double>(gap.count) / static_cast<double>(std::max<uint64_t>(analysis.counted, 1)),
                        per_step(analysis, us(gap.ns)), share(analysis, gap.ns));
  }
  if (analysis.gaps.size() > kTopGaps) {
    int64_t rest = 0;
    for (size_t i = kTopGaps; i < analysis.gaps.size(); ++i) rest += analysis.gaps[i].ns;
    text += fmt::format("... and {} more causes, {:.1f} us\n", analysis.gaps.size() - kTopGaps, per_step(analysis, us(rest)));
  }
}

void add_collectives(const Analysis& analysis, std::string& text) {
  if (analysis.collectives.empty()) return;
  text += fmt::format("\n{:<{}} {:>10} {:>7} {:>10} {:>10}\n", "collectives", kName, "bytes", "calls", "us a step", "not hidden");
  for (size_t i = 0; i < std::min(analysis.collectives.size(), kTopCollectives); ++i) {
    const Collective& collective = analysis.collectives[i];
    text += fmt::format("{:<{}} {:>10} {:>7.1f} {:>10.1f} {:>10.1f}\n", short_name(collective.name, kName), kName,
                        collective.bytes < 0 ? "not told" : std::to_string(collective.bytes),
                        static_cast<double>(collective.calls) / static_cast<double>(std::max<uint64_t>(analysis.counted, 1)),
                        per_step(analysis, us(collective.ns)), per_step(analysis, us(collective.exposed_ns)));
  }
}

void add_advice(const Analysis& analysis, std::string& text) {
  const Advice advice = advise(analysis);
  if (advice.classes.empty()) return;
  text += fmt::format("\nlevers, by what was measured (knobs of {}; TPOT to expect in %, negative is faster)\n", advice.server);
  for (const ClassAdvice& entry : advice.classes) {
    text += fmt::format("{} takes {:.1f} us, {:.1f} % of the step:\n", name_of(entry.kind), entry.us, entry.percent);
    for (const Lever& lever : entry.levers) {
      const std::string expected = lever.expected ? fmt::format("{:>5g} to {:>4g}", lever.expected->first, lever.expected->second) : "?";
      text += fmt::format("  {:<34} {:>13}  {} [{}]\n", lever.server == "teapot" ? "teapot: --" + lever.knob : lever.knob, expected,
                          lever.change, lever.evidence);
    }
  }
  if (!advice.tune.empty()) text += "measure them: " + advice.tune + "\n";
}

void add_ranks(const std::vector<Analysis>& ranks, std::string& text) {
  if (ranks.size() < 2) return;
  text += fmt::format("\n{:<8} {:>12} {:>22} {:>12}   slowest first\n", "rank", "us a step", "waits for another rank", "its own");
  for (const RankTimes& rank : compare_ranks(ranks)) {
    text += fmt::format("{:<8} {:>12.1f} {:>22.1f} {:>12.1f}\n", rank.rank, rank.wall_us, rank.waiting_us, rank.own_us());
  }
}

void add_comparison(const Comparison& comparison, std::string& text) {
  text += fmt::format("\nagainst {}: {:.1f} -> {:.1f} us a step ({:+.1f})\n", comparison.before, comparison.before_wall_us,
                      comparison.after_wall_us, comparison.after_wall_us - comparison.before_wall_us);
  text += fmt::format("{:<13} {:>10} {:>10} {:>10}\n", "class", "before", "after", "change");
  for (size_t c = 0; c < kClasses; ++c) {
    if (comparison.before_us[c] == 0 && comparison.after_us[c] == 0) continue;
    text += fmt::format("{:<13} {:>10.1f} {:>10.1f} {:>+10.1f}\n", kClassNames[c], comparison.before_us[c], comparison.after_us[c],
                        comparison.after_us[c] - comparison.before_us[c]);
  }
  text += fmt::format("{:<{}} {:>15} {:>10} {:>10} {:>10}\n", "operator", kName, "calls", "us before", "after", "change");
  for (size_t i = 0; i < std::min(comparison.operators.size(), kTopChanges); ++i) {
    const OperatorChange& change = comparison.operators[i];
    text += fmt::format("{:<{}} {:>15} {:>10.1f} {:>10.1f} {:>+10.1f}\n", short_name(change.name, kName), kName,
                        fmt::format("{:.1f} -> {:.1f}", change.before_calls, change.after_calls), change.before_us, change.after_us,
                        change.change_us());
  }
}

}  // namespace

std::string_view meaning_of(Class kind) {
  switch (kind) {
    case Class::kUseful:
      return "computes what is not bound by weights: norms, attention, recurrence, routing, sampling";
    case Class::kHost:
      return "waits for a launch, for python, for event calls";
    case Class::kSyncCopy:
      return "waits for copies, fills and synchronisation with the host";
    case Class::kComm:
      return "runs collectives that no computation hides";
    case Class::kBandwidth:
      return "reads weights: matmuls of few tokens";
    case Class::kGraph:
      return "converts layouts, falls back to its CPU, waits for tiling or between kernels it already has";
    case Class::kMemory:
      return "waits for allocation, mapping, page faults";
    case Class::kUnattributed:
      break;
  }
  return "is idle, and the file does not say why: it holds no host events";
}

std::string short_name(std::string_view name, size_t length) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  size_t skip = 0;  // "(anonymous namespace)::" is no parameter list
  for (size_t at = name.find('(', skip); at != name.npos && name.substr(at).starts_with("(anonymous namespace)"); at = name.find('(', skip))
    skip = at + 1;
  name = name.substr(0, std::min(name.find('<', skip), name.find('(', skip)));
  std::string result(name);
  if (result.size() > length) result = result.substr(0, length - 3) + "...";
  return result;
}

std::vector<std::string> warning_texts(const Analysis& analysis) {
  const Repairs& repairs = analysis.repairs;
  std::vector<std::string> texts;
  if (repairs.dropped() > 0) {
    texts.push_back(fmt::format(
        "{} records were dropped: {} without a time, {} of no length, {} of negative length, {} more than 10 ms before their launch",
        repairs.dropped(), repairs.no_time, repairs.zero_length, repairs.negative_length, repairs.far_from_launch));
  }
  if (repairs.clipped > 0) texts.push_back(fmt::format("{} slices ran over the next one of their stream: clipped", repairs.clipped));
  if (repairs.clock_skew_ns > 0) {
    texts.push_back(fmt::format("the device's clock is {:.1f} us behind: kernels start before their launch; its times were moved",
                                us(repairs.clock_skew_ns)));
  }
  if (std::ranges::find(analysis.warnings, "no_host_events") != analysis.warnings.end()) {
    texts.emplace_back("the file holds no host events: idle time cannot be attributed");
  }
  if (analysis.empty_markers > 0)
    texts.push_back(fmt::format("{} markers of steps during which nothing was launched", analysis.empty_markers));
  return texts;
}

std::string to_text(const std::vector<Analysis>& ranks, const std::optional<Comparison>& against) {
  std::string text;
  for (const Analysis& analysis : ranks) {
    if (!text.empty()) text += "\n";
    add_head(analysis, text);
    add_bars(analysis, text);
    add_classes(analysis, text);
    add_kinds(analysis, text);
    add_own(analysis, text);
    add_operators(analysis, text);
    add_gaps(analysis, text);
    add_collectives(analysis, text);
  }
  add_ranks(ranks, text);
  // One rank's advice is all ranks' advice: the slowest one's.
  const int64_t slowest = compare_ranks(ranks).front().rank;
  add_advice(*std::ranges::find(ranks, slowest, &Analysis::rank), text);
  if (against) add_comparison(*against, text);
  return text;
}

}  // namespace teapot::workbench::trace
