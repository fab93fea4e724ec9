#include <cmath>

#include "base/ticks.h"
#include "workbench/profile.h"

namespace teapot::workbench {
namespace {

constexpr int kVersion = 1;

// Events on tracks; times in whole nanoseconds, so that slices that touch do not overlap once they are read again.
class Events {
 public:
  explicit Events(uint64_t origin) : origin_(origin) {}

  void thread(size_t thread, const std::string& name) {
    events_.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", thread}, {"args", {{"name", name}}}});
  }

  void slice(const std::string& name, const char* category, size_t thread, uint64_t from, uint64_t to, Json arguments) {
    if (ns(to) <= ns(from)) return;
    Json event = {
        {"name", name}, {"cat", category}, {"ph", "X"}, {"pid", 0}, {"tid", thread}, {"ts", us(ns(from))}, {"dur", us(ns(to) - ns(from))}};
    if (!arguments.empty()) event["args"] = std::move(arguments);
    events_.push_back(std::move(event));
  }

  Json take() { return std::move(events_); }

 private:
  int64_t ns(uint64_t ticks) const { return std::llround(static_cast<double>(static_cast<int64_t>(ticks - origin_)) / ticks_per_ns()); }
  static double us(int64_t ns) { return static_cast<double>(ns) / 1000; }  // of a run's length a double has every nanosecond

  uint64_t origin_;
  Json events_ = Json::array();
};

// How many slices of each op the step has.
std::vector<uint64_t> slices_by_op(const plan::StepTrace& trace) {
  std::vector<uint64_t> counts(trace.ops.size(), 0);
  for (const auto& spans : trace.workers) {
    for (const plan::Span& span : spans) ++counts.at(span.op);
  }
  return counts;
}

}  // namespace

Json chrome_trace(const Profile& profile) {
  const std::vector<plan::StepTrace>& traces = profile.traces;
  Events events(traces.empty() ? 0 : traces.front().began);
  const size_t workers = traces.empty() ? 0 : traces.front().workers.size();
  for (size_t worker = 0; worker < workers; ++worker) events.thread(worker, fmt::format("worker {}", worker));
  events.thread(workers, "steps");
  for (size_t step = 0; step < traces.size(); ++step) {
    const plan::StepTrace& trace = traces[step];
    events.slice("decode", "step", workers, trace.began, trace.ended,
                 {{"step", step}, {"tokens", profile.options.sequences * (profile.options.drafts + 1)}});
    if (step + 1 < traces.size()) events.slice("between steps", "sched", workers, trace.ended, traces[step + 1].began, {});
    const std::vector<uint64_t> counts = slices_by_op(trace);
    for (size_t worker = 0; worker < trace.workers.size(); ++worker) {
      for (const plan::Span& span : trace.workers[worker]) {
        const std::string& op = trace.ops.at(span.op);
        const std::string kind = op.substr(0, op.find(' '));
        const uint64_t bytes = span.op < profile.op_bytes.size() ? profile.op_bytes[span.op].bytes / counts[span.op] : 0;
        events.slice(kind, "op", worker, span.began, span.arrived, {{"op", op}, {"phase", span.phase}, {"bytes", bytes}});
        if (span.serial) {
          events.slice(kind, "op", worker, span.arrived, span.released, {{"op", op}, {"phase", "serial"}});
        } else {
          events.slice("barrier", "wait", worker, span.arrived, span.released, {});
        }
      }
    }
  }
  Json about = {{"format", "teapot-trace"}, {"version", kVersion}, {"clock", "ticks since the first step"}, {"workers", workers}};
  if (profile.read_gbs > 0) about["roof_gbps"] = profile.read_gbs;
  return {{"displayTimeUnit", "ns"}, {"otherData", std::move(about)}, {"traceEvents", events.take()}};
}

}  // namespace teapot::workbench
