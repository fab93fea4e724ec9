// The CPU backend: weights in one arena, a thread team for life, states of sequences, an executor of plans.
#pragma once

#include <memory>

#include "cpu/options.h"
#include "plan/backend.h"

namespace teapot::cpu {

// kInvalid for an unknown value, kUnsupported for one that this host cannot honour. The thread that calls becomes worker 0 of the team
// and is bound like the others while the backend lives: it is the one that runs steps.
Result<std::unique_ptr<plan::Backend>> create_backend(const Options& options);

}  // namespace teapot::cpu
