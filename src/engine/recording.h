// Steps as they were: what the workers and the decode thread did, and when. Bounded: whatever runs, it never grows beyond what it was made
// with, and adding to it neither allocates nor asks the system for anything.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/backend.h"

namespace teapot::engine {

// Names and categories are literals; times are ticks (base/ticks.h).
struct RecordedSlice {
  const char* category;  // of our trace format (docs/design.md)
  const char* name;
  uint64_t began, ended;
};

struct RecordedBytes {
  uint32_t op;  // of the plan
  uint64_t bytes;
};

// A run of the backend.
struct RecordedRun {
  const char* prefix;  // of its ops' names: "", "draft/", "catch_up/"
  plan::PlanId plan;
  uint64_t began, ended;
  size_t first_span, first_bytes, end_bytes;
};

struct RecordedStep {
  const char* kind;  // "decode", "verify", "prefill", "prefill+decode"
  uint64_t began, ended;
  uint32_t decode_rows, prefill_rows, tokens;
  uint64_t page_faults;
  size_t end_run;  // its runs end here and begin where the step's before end
};

class Recording {
 public:
  enum class End : uint8_t {
    kSteps,   // as many as were asked for
    kTime,    // the time was over, or somebody had no more use for it
    kMemory,  // no room for another step
  };
  static constexpr size_t kMaxSpans = size_t{1} << 19;

  // Takes its memory, and touches it.
  Recording(size_t workers, uint32_t steps);

  // False: there is no room.
  bool add(const char* prefix, plan::PlanId plan, const plan::StepTrace& trace, std::span<const plan::OpTraffic> traffic);
  bool add(const RecordedSlice& slice);
  // Ends the step that was being recorded. Adding goes on with the next.
  void end_step(RecordedStep step);
  // Forgets what was added since the last step ended.
  void drop_step();

  bool full() const { return steps_.size() == wanted_; }
  size_t workers() const { return workers_; }
  uint32_t wanted() const { return wanted_; }
  std::span<const RecordedStep> steps() const { return steps_; }
  std::span<const RecordedRun> runs() const { return runs_; }
  std::span<const RecordedRun> runs(size_t step) const;
  std::span<const RecordedSlice> host() const { return host_; }
  std::span<const RecordedBytes> bytes(const RecordedRun& run) const;
  std::span<const plan::Span> spans(const RecordedRun& run, size_t worker) const;

  std::map<plan::PlanId, std::vector<std::string>> ops;  // [plans that ran]: names
  uint64_t dropped = 0;                                  // spans that workers had no memory for
  End end = End::kSteps;
  std::string_view faults_by;  // "perf_event": of the decode thread and the workers; "getrusage": of the process

 private:
  struct Mark {
    size_t runs = 0, spans = 0, bytes = 0, host = 0;
  };
  Mark mark() const { return {runs_.size(), spans_.size(), bytes_.size(), host_.size()}; }

  size_t workers_;
  uint32_t wanted_;
  std::vector<RecordedStep> steps_;
  std::vector<RecordedRun> runs_;
  std::vector<plan::Span> spans_;     // run by run, worker by worker
  std::vector<size_t> span_counts_;   // [runs x workers]
  std::vector<RecordedBytes> bytes_;  // run by run
  std::vector<RecordedSlice> host_;   // by end
  Mark whole_;                        // up to here, steps that have ended
};

}  // namespace teapot::engine
