#include "engine/step_recorder.h"

#include <algorithm>

namespace teapot::engine {
namespace {

const char* kind_of(const StepRecord& record) {
  if (record.prefill_rows > 0) return record.decode_rows > 0 ? "prefill+decode" : "prefill";
  return record.verify ? "verify" : "decode";
}

}  // namespace

void StepRecorder::begin(std::unique_ptr<Recording> recording) {
  recording_ = std::move(recording);
  overflows_ = false;
  resting_since_ = last_ended_ = 0;
  faults_.clear();
  std::vector<std::optional<PageFaultCounter>> counters(backend_.workers());
  const Status opened = backend_.on_workers([&](size_t worker) { counters[worker] = PageFaultCounter::open(); });
  const bool all = opened && std::ranges::all_of(counters, [](const auto& counter) { return counter.has_value(); });
  for (auto& counter : counters) {
    if (all) faults_.push_back(*std::move(counter));
  }
  recording_->faults_by = all ? "perf_event" : "getrusage";
}

std::unique_ptr<Recording> StepRecorder::finish(Recording::End end) {
  faults_.clear();
  recording_->end = end;
  recording_->drop_step();
  for (const RecordedRun& run : recording_->runs()) {
    if (!recording_->ops.contains(run.plan)) recording_->ops[run.plan] = backend_.op_names(run.plan);
  }
  return std::move(recording_);
}

std::optional<Recording::End> StepRecorder::done() const {
  if (overflows_) return Recording::End::kMemory;
  if (recording_->full()) return Recording::End::kSteps;
  return std::nullopt;
}

uint64_t StepRecorder::page_faults() const {
  if (faults_.empty()) return process_page_faults();
  uint64_t sum = 0;
  for (const PageFaultCounter& counter : faults_) sum += counter.count();
  return sum;
}

void StepRecorder::begin_step() {
  if (!on()) return;
  step_began_ = ticks();
  if (const uint64_t since = std::exchange(resting_since_, 0); since != 0) {
    add({"idle", "no request", since, step_began_});
    last_ended_ = 0;
  }
  faults_before_ = page_faults();
}

void StepRecorder::ran(const char* prefix, plan::PlanId plan) {
  if (!on()) return;
  backend_.trace(trace_);
  backend_.traffic(traffic_);
  overflows_ = !recording_->add(prefix, plan, trace_, traffic_) || overflows_;
}

void StepRecorder::end_step(const StepRecord& record) {
  if (!on() || overflows_ || recording_->full()) return;
  const uint64_t ended = ticks();
  add({"sched", "step", last_ended_ == 0 ? step_began_ : last_ended_, ended});
  last_ended_ = ended;
  if (overflows_) return;
  recording_->end_step(
      {kind_of(record), step_began_, ended, record.decode_rows, record.prefill_rows, record.tokens, page_faults() - faults_before_, 0});
}

void StepRecorder::drop_step() {
  if (on()) recording_->drop_step();
}

Result<plan::PlanId> get_plan(PlanCache& plans, plan::StepShape shape, StepRecorder& recorder) {
  const uint64_t misses = plans.misses();
  auto slice = recorder.slice("plan", "build plan");
  auto plan = plans.get(shape);
  if (plans.misses() == misses) slice.drop();
  return plan;
}

}  // namespace teapot::engine
