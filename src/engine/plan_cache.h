// Plans by step shape, written and prepared when a shape first occurs. Belongs to the thread that runs steps.
#pragma once

#include <map>

#include "base/error.h"
#include "model/model.h"
#include "model/plan_writer.h"
#include "plan/backend.h"

namespace teapot::engine {

class PlanCache {
 public:
  // Both must outlive the cache.
  PlanCache(plan::Backend& backend, const model::Model& model, model::PlanOptions options = {})
      : backend_(backend), model_(model), options_(options) {}

  Result<plan::PlanId> get(plan::StepShape shape);

 private:
  plan::Backend& backend_;
  const model::Model& model_;
  model::PlanOptions options_;
  std::map<plan::StepShape, plan::PlanId> plans_;
};

}  // namespace teapot::engine
