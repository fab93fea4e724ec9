#include "engine/plan_cache.h"

namespace teapot::engine {

Result<plan::PlanId> PlanCache::prepare(plan::StepShape shape) {
  if (const auto it = plans_.find(shape); it != plans_.end()) return it->second;
  TEAPOT_TRY(const plan::PlanId id, backend_.prepare(write_(shape)));
  plans_.emplace(shape, id);
  return id;
}

Result<plan::PlanId> PlanCache::get(plan::StepShape shape) {
  if (const auto it = plans_.find(shape); it != plans_.end()) {
    ++hits_;
    return it->second;
  }
  ++misses_;
  if (required_) {
    return fail(ErrorKind::kInternal, "no plan was prepared for a step of {} rows, and plans are required", shape.rows);
  }
  return prepare(shape);
}

}  // namespace teapot::engine
