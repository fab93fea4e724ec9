// Arithmetic over one row of logits, shared by the sampler and by logprobs. Ids are indices; -inf marks an id that is out.
#pragma once

#include <span>
#include <vector>

#include "plan/backend.h"

namespace teapot::engine {

// Neither NaN nor infinite, all of them.
bool all_finite(std::span<const float> logits);

// The largest logit; lowest id among equals. {-inf, -1} if every id is out.
plan::Candidate largest(std::span<const float> logits);

// The k largest that are not out, falling, lowest id first among equals; fewer if there are not so many. One pass over the logits.
void largest(std::span<const float> logits, size_t k, std::vector<plan::Candidate>& result);

// All that are at least low and not out, in the same order.
void from(std::span<const float> logits, double low, std::vector<plan::Candidate>& result);

// log(sum(exp(logits))), in double: what a logit is lowered by to be a log-probability.
double log_sum_exp(std::span<const float> logits);

}  // namespace teapot::engine
