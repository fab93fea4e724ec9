#include "workbench/trace/analysis.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"

namespace teapot::workbench::trace {
namespace {

std::string operator_name(const Trace& trace, const DeviceSlice& slice) {
  const std::string& name = trace.names.text(slice.name);
  return slice.kind == Class::kComm ? std::string(collective_kind(name)) : name;
}

bool wanted(const Step& step, const AnalysisOptions& options) {
  if (!options.steps) return true;
  int64_t id = 0;
  const auto [end, code] = std::from_chars(step.id.data(), step.id.data() + step.id.size(), id);
  return code == std::errc{} && end == step.id.data() + step.id.size() && id >= options.steps->first && id <= options.steps->second;
}

// Slices may overlap, and last as long as a file says: a sum that doesn't fit is the largest that does.
void add(int64_t& sum, int64_t part) {
  if (__builtin_add_overflow(sum, part, &sum)) sum = std::numeric_limits<int64_t>::max();
}

// Adds up pieces and slices of the counted steps.
class Adder {
 public:
  explicit Adder(const Trace& trace) : trace_(trace) {}

  void slice(const DeviceSlice& slice, const std::string& step_id) {
    Operator& op = operator_of(slice);
    const int64_t ns = slice.end - slice.start;
    ++op.calls;
    add(op.ns, ns);
    if (slice.bytes > 0) {
      add(op.bytes, slice.bytes);
      add(op.bytes_ns, ns);
    }
    if (slice.kind != Class::kComm) return;
    Collective& collective = collectives_[{op.name, slice.bytes}];
    ++collective.calls;
    add(collective.ns, ns);
    calls_.push_back({op.name, step_id, turns_[{op.name, step_id}]++, ns});
  }

  void piece(const Piece& piece) {
    if (piece.cause == Cause::kSlice) {
      const DeviceSlice& slice = trace_.device[piece.index];
      Operator& op = operator_of(slice);
      op.owned_ns += piece.ns();
      if (slice.kind == Class::kComm) collectives_[{op.name, slice.bytes}].exposed_ns += piece.ns();
      return;
    }
    Name name = 0;
    if (piece.cause == Cause::kHost) name = trace_.host[piece.index].name;
    if (piece.cause == Cause::kQueued || piece.cause == Cause::kLaunch) name = trace_.device[piece.index].name;
    Gap& gap = gaps_[{piece.kind, piece.cause, name}];
    ++gap.count;
    gap.ns += piece.ns();
  }

  void finish(Analysis& analysis) {
    for (Operator& op : operators_) {
      if (op.calls > 0 || op.owned_ns > 0) analysis.operators.push_back(std::move(op));
    }
    std::ranges::sort(analysis.operators, [](const Operator& a, const Operator& b) {
      return std::tie(b.owned_ns, b.ns, a.name, a.kind) < std::tie(a.owned_ns, a.ns, b.name, b.kind);
    });
    // Collectives of other turns are one cause.
    std::map<std::tuple<Class, Cause, std::string>, Gap> gaps;
    for (const auto& [key, gap] : gaps_) {
      const auto& [kind, cause, name] = key;
      Gap& sum = gaps[{kind, cause, std::string(collective_kind(trace_.names.text(name)))}];
      sum.count += gap.count;
      sum.ns += gap.ns;
    }
    for (const auto& [key, gap] : gaps) {
      const auto& [kind, cause, name] = key;
      analysis.gaps.push_back({kind, cause, name, gap.count, gap.ns});
    }
    std::ranges::sort(analysis.gaps,
                      [](const Gap& a, const Gap& b) { return std::tie(b.ns, a.name, a.cause) < std::tie(a.ns, b.name, b.cause); });
    for (auto& [key, collective] : collectives_) {
      collective.name = key.first;
      collective.bytes = key.second;
      analysis.collectives.push_back(collective);
    }
    std::ranges::sort(analysis.collectives, [](const Collective& a, const Collective& b) {
      return std::tie(b.ns, a.name, a.bytes) < std::tie(a.ns, b.name, b.bytes);
    });
    analysis.collective_calls = std::move(calls_);
  }

 private:
  Operator& operator_of(const DeviceSlice& slice) {
    const auto [number, is_new] = numbers_.try_emplace(uint64_t{slice.name} << 8 | static_cast<uint64_t>(slice.kind), 0);
    if (is_new) {
      const std::string name = operator_name(trace_, slice);
      const auto [at, is_first] = by_name_.try_emplace({name, slice.kind}, static_cast<uint32_t>(operators_.size()));
      if (is_first) {
        Operator& op = operators_.emplace_back();
        op.name = name;
        op.kind = slice.kind;
      }
      number->second = at->second;
    }
    return operators_[number->second];
  }

  const Trace& trace_;
  std::vector<Operator> operators_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // of operators, by name and class of slices
  std::map<std::pair<std::string, Class>, uint32_t> by_name_;
  std::map<std::tuple<Class, Cause, Name>, Gap> gaps_;
  std::map<std::pair<std::string, int64_t>, Collective> collectives_;
  std::map<std::pair<std::string, std::string>, uint32_t> turns_;
  std::vector<CollectiveCall> calls_;
};

// A worker that waits while another one works costs no class anything.
void add_waits(const Trace& trace, const Steps& found, const std::vector<bool>& counted, Analysis& analysis) {
  for (const Pause& pause : trace.pauses) analysis.pauses_ns += pause.end - pause.start;
  if (trace.format != "teapot") return;
  std::set<uint32_t> workers;
  trace.device.each([&](const DeviceSlice& slice) { workers.insert(slice.stream); });
  analysis.workers = workers.size();
  size_t step = 0;
  trace.host.each([&](const HostSlice& slice) {  // by start
    if (slice.role != Role::kSync || !workers.contains(slice.thread)) return;
    while (step < found.steps.size() && found.steps[step].end <= slice.start) ++step;
    if (step < found.steps.size() && counted[step] && slice.start >= found.steps[step].start) {
      analysis.barrier_ns += slice.end - slice.start;
    }
  });
}

}  // namespace

std::optional<double> StepTimes::roof_percent(std::optional<double> roof_gbps) const {
  const int64_t owned = ns[static_cast<size_t>(Class::kBandwidth)];
  if (!weight_bytes || !roof_gbps || owned == 0) return std::nullopt;
  return 100.0 * static_cast<double>(*weight_bytes) / static_cast<double>(owned) / *roof_gbps;
}

ClassTimes Analysis::total_ns() const {
  ClassTimes total{};
  for (const StepTimes& step : steps) {
    for (size_t c = 0; c < kClasses; ++c) total[c] += step.ns[c];
  }
  return total;
}

int64_t Analysis::counted_wall_ns() const { return std::accumulate(counted_ns.begin(), counted_ns.end(), int64_t{0}); }

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::kSlice:
      return "runs";
    case Cause::kReplay:
      return "between kernels of one replay";
    case Cause::kQueued:
      return "already submitted:";
    case Cause::kLaunch:
      return "launch of";
    case Cause::kHost:
      return "host in";
    case Cause::kPython:
      return "python, no call";
    case Cause::kUnknown:
      break;
  }
  return "the file holds no host events";
}

Read<Analysis> analyse(Trace trace, const Rules& rules, const AnalysisOptions& options, const std::string& source) {
  Analysis result;
  result.format = trace.format;
  result.page_faults_by = trace.page_faults_by;
  result.roof_gbps = options.roof_gbps ? options.roof_gbps : trace.roof_gbps;
  result.repairs = repair(trace);
  TEAPOT_TRY(const Steps found, find_steps(trace, rules, source));
  result.by_repetition = found.by_repetition;
  result.empty_markers = found.empty_markers;
  if (result.repairs.dropped() > 0) result.warnings.emplace_back("dropped_events");
  if (result.repairs.clipped > 0) result.warnings.emplace_back("overlapping_slices");
  if (result.repairs.clock_skew_ns > 0) result.warnings.emplace_back("clock_skew");
  if (trace.host.empty()) result.warnings.emplace_back("no_host_events");
  if (found.empty_markers > 0) result.warnings.emplace_back("empty_markers");

  std::vector<int64_t> bytes(found.steps.size(), 0);
  std::vector<bool> known(found.steps.size(), false);
  trace.device.each([&](const DeviceSlice& slice) {
    if (slice.step == kNoStep || slice.kind != Class::kBandwidth || slice.bytes <= 0) return;
    known[slice.step] = true;
    bytes[slice.step] += slice.bytes;
  });
  result.any_complete = std::ranges::any_of(found.steps, [&](const Step& step) { return step.complete && wanted(step, options); });
  Sweep sweep(trace);
  Adder adder(trace);
  std::vector<bool> counted(found.steps.size(), false);
  for (size_t i = 0; i < found.steps.size(); ++i) {
    const Step& step = found.steps[i];
    if (!wanted(step, options)) continue;
    StepTimes& times = result.steps.emplace_back();
    times.step = step;
    if (known[i]) times.weight_bytes = bytes[i];
    counted[i] = result.counts(times);
    sweep.step(step, [&](const Piece& piece) {
      times.ns[static_cast<size_t>(piece.kind)] += piece.ns();
      if (counted[i]) adder.piece(piece);
    });
    if (!counted[i]) continue;
    ++result.counted;
    for (size_t c = 0; c < kClasses; ++c) result.counted_ns[c] += times.ns[c];
  }
  if (result.steps.empty()) {
    return refuse("no steps found", fmt::format("{}: none of its {} steps ({} to {}) was asked for", source, found.steps.size(),
                                                found.steps.front().id, found.steps.back().id));
  }
  trace.device.each([&](const DeviceSlice& slice) {
    if (slice.step != kNoStep && counted[slice.step]) adder.slice(slice, found.steps[slice.step].id);
  });
  adder.finish(result);
  add_waits(trace, found, counted, result);
  if (options.keep_trace) result.trace = std::move(trace);
  return result;
}

}  // namespace teapot::workbench::trace
