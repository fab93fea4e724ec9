// Records the steps of the decode thread while somebody wants to see them; costs a branch a place when nobody does.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/page_faults.h"
#include "base/ticks.h"
#include "engine/observer.h"
#include "engine/plan_cache.h"
#include "engine/recording.h"

namespace teapot::engine {

// Decode thread only.
class StepRecorder {
 public:
  // backend: outlives it.
  explicit StepRecorder(plan::Backend& backend) : backend_(backend) {}

  bool on() const { return recording_ != nullptr; }
  // From the next step on. The counters of page faults are opened, on each worker its own.
  void begin(std::unique_ptr<Recording> recording);
  // What there is, whole steps.
  std::unique_ptr<Recording> finish(Recording::End end);
  // No more steps are wanted, or there is no room for one; nothing is added any more.
  std::optional<Recording::End> done() const;

  // From here to the object's end the thread does this.
  class Slice {
   public:
    Slice(StepRecorder& recorder, const char* category, const char* name)
        : recorder_(recorder.on() ? &recorder : nullptr), category_(category), name_(name), began_(recorder_ == nullptr ? 0 : ticks()) {}
    Slice(const Slice&) = delete;
    Slice& operator=(const Slice&) = delete;
    ~Slice() {
      if (recorder_ != nullptr) recorder_->add({category_, name_, began_, ticks()});
    }
    void drop() { recorder_ = nullptr; }

   private:
    StepRecorder* recorder_;
    const char *category_, *name_;
    uint64_t began_;
  };
  Slice slice(const char* category, const char* name) { return {*this, category, name}; }

  void begin_step();
  // The backend has run this plan.
  void ran(const char* prefix, plan::PlanId plan);
  void end_step(const StepRecord& record);
  void drop_step();

  // Nobody wants anything, from here to the next step.
  void rest() { resting_since_ = on() ? ticks() : 0; }

 private:
  void add(const RecordedSlice& slice) { overflows_ = !recording_->add(slice) || overflows_; }
  uint64_t page_faults() const;

  plan::Backend& backend_;
  std::unique_ptr<Recording> recording_;
  bool overflows_ = false;
  uint64_t step_began_ = 0, resting_since_ = 0, faults_before_ = 0;
  uint64_t last_ended_ = 0;               // the step before, if no rest was between; 0: none was recorded
  std::vector<PageFaultCounter> faults_;  // [workers]; of the decode thread, which is one of them, among them
  plan::StepTrace trace_;                 // of the last run; kept for its memory
  std::vector<plan::OpTraffic> traffic_;  // so is this
};

// A plan for a step that is to run now; making one, where that is needed, is a slice of its own.
Result<plan::PlanId> get_plan(PlanCache& plans, plan::StepShape shape, StepRecorder& recorder);

}  // namespace teapot::engine
