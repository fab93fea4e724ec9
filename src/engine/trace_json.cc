#include "engine/trace_json.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/json.h"
#include "base/ticks.h"

namespace teapot::engine {
namespace {

constexpr int kVersion = 1;

// "gdn_step 3" -> "gdn_step"
std::string_view kind_of(std::string_view op) { return op.substr(0, op.find(' ')); }

// The router's matrix and its choice run within the experts' op. Where it shares a phase with an expert, the phase is theirs.
bool routes(const plan::Span& span) { return std::string_view(span.phase) == "router" || std::string_view(span.phase) == "choose"; }

// What each slice of a run's ops has of their bytes.
class BytesOfSlices {
 public:
  BytesOfSlices(const Recording& recording, const RecordedRun& run, const std::vector<std::string>& ops) : ops_(ops.size()) {
    for (size_t worker = 0; worker < recording.workers(); ++worker) {
      for (const plan::Span& span : recording.spans(run, worker)) {
        Op& op = ops_.at(span.op);
        ++(routes(span) ? op.routing : op.computing);
      }
    }
    for (const RecordedBytes& entry : recording.bytes(run)) {
      // A router is run together with the experts after it.
      size_t op = entry.op;
      const bool router = kind_of(ops.at(op)) == "route";
      while (op + 1 < ops.size() && router && kind_of(ops[op]) != "moe") ++op;
      (router && ops_[op].routing > 0 ? ops_[op].routing_bytes : ops_[op].computing_bytes) += entry.bytes;
    }
  }

  uint64_t of(const plan::Span& span) const {
    const Op& op = ops_[span.op];
    return routes(span) ? op.routing_bytes / op.routing : op.computing_bytes / op.computing;
  }

 private:
  struct Op {
    uint64_t computing = 0, routing = 0;  // slices
    uint64_t computing_bytes = 0, routing_bytes = 0;
  };
  std::vector<Op> ops_;
};

class Writer {
 public:
  Writer(uint64_t origin, std::string& out) : origin_(origin), ticks_per_ns_(ticks_per_ns()), out_(out) {}

  void thread(size_t thread, std::string_view name) {
    separate();
    write(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"{}"}}}})", thread, name);
  }

  // arguments: members of an object, without its braces. Slices of no length are left out.
  template <class... Args>
  void slice(std::string_view prefix, std::string_view name, std::string_view category, size_t thread, uint64_t from, uint64_t to,
             fmt::format_string<Args...> arguments, Args&&... args) {
    const int64_t began = ns(from), length = ns(to) - began;
    if (length <= 0) return;
    separate();
    write(R"({{"name":"{}{}","cat":"{}","ph":"X","pid":0,"tid":{},"ts":{},"dur":{},"args":{{)", prefix, name, category, thread, us(began),
          us(length));
    write(arguments, std::forward<Args>(args)...);
    out_ += "}}";
  }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void separate() { out_ += std::exchange(first_, false) ? "\n" : ",\n"; }

  int64_t ns(uint64_t ticks) const { return std::llround(static_cast<double>(static_cast<int64_t>(ticks - origin_)) / ticks_per_ns_); }
  // Nanoseconds to the digit, before the origin too.
  static std::string us(int64_t ns) { return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000); }

  uint64_t origin_;
  double ticks_per_ns_;
  std::string& out_;
  bool first_ = true;
};

void write_run(const Recording& recording, const RecordedRun& run, Writer& writer) {
  const std::vector<std::string>& ops = recording.ops.at(run.plan);
  const BytesOfSlices bytes(recording, run, ops);
  for (size_t worker = 0; worker < recording.workers(); ++worker) {
    for (const plan::Span& span : recording.spans(run, worker)) {
      const std::string& op = ops[span.op];
      const std::string_view name = routes(span) ? "route" : kind_of(op);
      writer.slice(run.prefix, name, "op", worker, span.began, span.arrived, R"("op":"{}","phase":"{}","bytes":{})", op, span.phase,
                   bytes.of(span));
      if (span.serial) {
        writer.slice(run.prefix, name, "op", worker, span.arrived, span.released, R"("op":"{}","phase":"serial")", op);
      } else {
        writer.slice("", "barrier", "wait", worker, span.arrived, span.released, "");
      }
    }
  }
}

std::string head(const Recording& recording, const TraceFacts& facts) {
  Json about = {{"format", "teapot-trace"},
                {"version", kVersion},
                {"clock", "time stamp counter, since the first step"},
                {"workers", recording.workers()},
                {"steps", recording.steps().size()},
                {"steps_wanted", recording.wanted()},
                {"ended_by", name_of(recording.end)},
                {"page_faults_by", recording.faults_by},
                {"spans_dropped", recording.dropped}};
  if (!facts.model.empty()) about["model"] = facts.model;
  if (facts.roof_gbps > 0) about["roof_gbps"] = facts.roof_gbps;
  return dump_json(about);
}

}  // namespace

std::string_view name_of(Recording::End end) {
  switch (end) {
    case Recording::End::kSteps:
      return "steps";
    case Recording::End::kTime:
      return "time";
    case Recording::End::kMemory:
      break;
  }
  return "memory";
}

std::string trace_json(const Recording& recording, const TraceFacts& facts) {
  std::string out = fmt::format(R"({{"displayTimeUnit":"ns","otherData":{},"traceEvents":[)", head(recording, facts));
  Writer writer(recording.steps().empty() ? 0 : recording.steps().front().began, out);
  const size_t workers = recording.workers(), decode_thread = workers, steps = workers + 1;
  for (size_t worker = 0; worker < workers; ++worker) writer.thread(worker, fmt::format("worker {}", worker));
  writer.thread(decode_thread, "decode thread");
  writer.thread(steps, "steps");
  for (size_t i = 0; i < recording.steps().size(); ++i) {
    const RecordedStep& step = recording.steps()[i];
    writer.slice("", step.kind, "step", steps, step.began, step.ended,
                 R"("step":{},"decode_rows":{},"prefill_rows":{},"tokens":{},"page_faults":{})", i, step.decode_rows, step.prefill_rows,
                 step.tokens, step.page_faults);
    for (const RecordedRun& run : recording.runs(i)) write_run(recording, run, writer);
  }
  for (const RecordedSlice& slice : recording.host()) {
    writer.slice("", slice.name, slice.category, decode_thread, slice.began, slice.ended, "");
  }
  out += "\n]}\n";
  return out;
}

}  // namespace teapot::engine
