// Plans by step shape: those that can occur are prepared beforehand, others when they first occur. Belongs to the thread that runs steps.
#pragma once

#include <functional>
#include <map>

#include "base/error.h"
#include "model/model.h"
#include "model/plan_writer.h"
#include "plan/backend.h"

namespace teapot::engine {

class PlanCache {
 public:
  using Writer = std::function<plan::Plan(plan::StepShape)>;

  // The backend must outlive the cache.
  PlanCache(plan::Backend& backend, Writer write) : backend_(backend), write_(std::move(write)) {}
  // So must the model.
  PlanCache(plan::Backend& backend, const model::Model& model, model::PlanOptions options = {})
      : PlanCache(backend, [&model, options](plan::StepShape shape) { return model::write_plan(model, shape, options); }) {}

  // Beforehand: counts as neither hit nor miss.
  Result<plan::PlanId> prepare(plan::StepShape shape);

  // From now on a shape without a plan is an error (kInternal), instead of being prepared while a step waits for it.
  void require_prepared() { required_ = true; }

  // For a step that is to run now.
  Result<plan::PlanId> get(plan::StepShape shape);

  // Of get().
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  plan::Backend& backend_;
  Writer write_;
  bool required_ = false;
  std::map<plan::StepShape, plan::PlanId> plans_;
  uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace teapot::engine
