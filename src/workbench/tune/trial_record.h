// Questions and answers of trials as lines of a ledger:
//   {"trial", "ask": {"validate": profile} | {"pair", "a", "b", "first", "prompts"}, "answer": {...}, "elapsed_s", "at", "host"}
#pragma once

#include <vector>

#include "workbench/tune/trials.h"

namespace teapot::workbench {

Json to_json(const KnobProfile& profile);
Json ask_json(const KnobProfile& validated);
Json ask_json(const PairRequest& request);
Json to_json(const Validation& validation);
Json to_json(const PairOutcome& outcome);

// All of them: kInvalid, naming the field.
Result<KnobProfile> parse_knob_profile(const Json& json);
Result<Validation> parse_validation(const Json& json);
// Without a fault both arms have the loads of `parallel`, with times above 0.
Result<PairOutcome> parse_pair_outcome(const Json& json, const std::vector<uint32_t>& parallel);

}  // namespace teapot::workbench
