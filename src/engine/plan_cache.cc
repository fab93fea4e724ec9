#include "engine/plan_cache.h"

namespace teapot::engine {

Result<plan::PlanId> PlanCache::get(plan::StepShape shape) {
  if (const auto it = plans_.find(shape); it != plans_.end()) return it->second;
  TEAPOT_TRY(const plan::PlanId id, backend_.prepare(model::write_plan(model_, shape, options_)));
  plans_.emplace(shape, id);
  return id;
}

}  // namespace teapot::engine
