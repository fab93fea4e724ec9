// Running plans before anybody waits for them: memory is touched, caches and branch predictors have seen the code.
#pragma once

#include "base/error.h"
#include "plan/backend.h"

namespace teapot::engine {

// Runs the plan so many times, in states of its own that are closed afterwards: no other sequence can tell. Errors are the backend's.
Status warm_up(plan::Backend& backend, plan::PlanId plan, plan::StepShape shape, uint32_t times);

}  // namespace teapot::engine
