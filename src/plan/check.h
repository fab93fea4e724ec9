// A plan must fit the weights and the state that it names; a backend may then trust it.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

namespace teapot::plan {

// Every id exists, every matrix and buffer has the size that its op needs. kInternal with op and field otherwise: a plan that does not
// fit is a bug of the model floor, not of a file.
Status check(const Plan& plan, const WeightTable& weights, const StateLayout& layout);

}  // namespace teapot::plan
