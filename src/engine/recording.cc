#include "engine/recording.h"

#include <algorithm>

namespace teapot::engine {
namespace {

// Of a step, about: of a model of 64 layers, with drafts.
constexpr size_t kRuns = 12, kSpansPerWorker = 2048, kBytes = 2048, kSlices = 64;

template <class T>
void take_memory(std::vector<T>& items, size_t count) {
  items.resize(count);  // touches it
  items.clear();
}

template <class T>
bool fits(const std::vector<T>& items, size_t count) {
  return items.capacity() - items.size() >= count;
}

}  // namespace

Recording::Recording(size_t workers, uint32_t steps) : workers_(workers), wanted_(steps) {
  take_memory(steps_, steps);
  take_memory(runs_, steps * kRuns);
  take_memory(spans_, std::min(kMaxSpans, steps * workers * kSpansPerWorker));
  take_memory(span_counts_, runs_.capacity() * workers);
  take_memory(bytes_, std::min(kMaxSpans, steps * kBytes));
  take_memory(host_, steps * kSlices);
}

bool Recording::add(const char* prefix, plan::PlanId plan, const plan::StepTrace& trace, std::span<const plan::OpTraffic> traffic) {
  size_t spans = 0;
  for (const auto& worker : trace.workers) spans += worker.size();
  if (!fits(runs_, 1) || !fits(spans_, spans) || !fits(bytes_, traffic.size()) || !fits(host_, trace.host.size())) return false;
  RecordedRun run{prefix, plan, trace.began, trace.ended, spans_.size(), bytes_.size(), bytes_.size() + traffic.size()};
  for (size_t worker = 0; worker < workers_; ++worker) {
    span_counts_.push_back(worker < trace.workers.size() ? trace.workers[worker].size() : 0);
    if (span_counts_.back() > 0) spans_.insert(spans_.end(), trace.workers[worker].begin(), trace.workers[worker].end());
  }
  for (const plan::OpTraffic& entry : traffic) bytes_.push_back({entry.op, entry.bytes()});
  for (const plan::HostSpan& span : trace.host) {
    host_.push_back({span.work == plan::HostWork::kPlan ? "plan" : "alloc", span.what, span.began, span.ended});
  }
  dropped += trace.dropped;
  runs_.push_back(run);
  return true;
}

bool Recording::add(const RecordedSlice& slice) {
  if (!fits(host_, 1)) return false;
  host_.push_back(slice);
  return true;
}

void Recording::end_step(RecordedStep step) {
  step.end_run = runs_.size();
  steps_.push_back(step);
  whole_ = mark();
}

void Recording::drop_step() {
  runs_.resize(whole_.runs);
  span_counts_.resize(whole_.runs * workers_);
  spans_.resize(whole_.spans);
  bytes_.resize(whole_.bytes);
  host_.resize(whole_.host);
}

std::span<const RecordedRun> Recording::runs(size_t step) const {
  const size_t first = step == 0 ? 0 : steps_[step - 1].end_run;
  return std::span(runs_).subspan(first, steps_[step].end_run - first);
}

std::span<const RecordedBytes> Recording::bytes(const RecordedRun& run) const {
  return std::span(bytes_).subspan(run.first_bytes, run.end_bytes - run.first_bytes);
}

std::span<const plan::Span> Recording::spans(const RecordedRun& run, size_t worker) const {
  const auto index = static_cast<size_t>(&run - runs_.data()) * workers_;
  size_t first = run.first_span;
  for (size_t i = 0; i < worker; ++i) first += span_counts_[index + i];
  return std::span(spans_).subspan(first, span_counts_[index + worker]);
}

}  // namespace teapot::engine
