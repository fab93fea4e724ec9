// The first steps, before anybody waits for one: memory is touched, caches and branch predictors have seen the code, and what steps cost
// is measured.
#pragma once

#include "base/error.h"
#include "engine/plan_cache.h"
#include "engine/scheduler_options.h"
#include "engine/step_cost.h"

namespace teapot::engine {

// Runs the decode shapes among the nodes of `cost` `warmup` times and once more for their cost, pieces of a prompt where a limit depends on
// their cost, and with speculation rows as they are verified and draft steps; in states that are closed afterwards: no sequence can tell.
// Errors are the backend's.
Status calibrate(plan::Backend& backend, PlanCache& plans, const SchedulerOptions& options, uint32_t vocab, uint32_t warmup, StepCost& cost,
                 StepCost& draft_cost);

// A draft step of one sequence that chooses among about so many ids.
Result<double> draft_ms(plan::Backend& backend, PlanCache& plans, uint32_t vocab, uint32_t ids);

}  // namespace teapot::engine
