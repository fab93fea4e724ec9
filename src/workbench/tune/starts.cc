#include "workbench/tune/starts.h"

namespace teapot::workbench {

Result<const Validation*> Starts::look_at(const KnobProfile& profile) {
  const auto known = known_.find(profile);
  if (known != known_.end()) return &known->second;
  TEAPOT_TRY(Validation validation, trials_.validate(profile));
  return &remember(profile, std::move(validation));
}

const Validation& Starts::remember(const KnobProfile& profile, Validation validation) {
  return known_.emplace(profile, std::move(validation)).first->second;
}

void Starts::set_failed(const KnobProfile& profile, TrialFault fault, std::string what) {
  Validation& validation = known_[profile];
  validation.fault = fault;
  validation.what = std::move(what);
}

MoveState broken_state(TrialFault fault) {
  switch (fault) {
    case TrialFault::kStart:
      return MoveState::kBrokenStart;
    case TrialFault::kHang:
      return MoveState::kBrokenHang;
    case TrialFault::kRequests:
      return MoveState::kBrokenRequests;
    default:
      return MoveState::kBrokenCrash;
  }
}

std::string text_difference(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  if (expected.size() != found.size()) return fmt::format("{} replies, not {}", found.size(), expected.size());
  const ReplyDifference difference = compare_replies(expected, found, {});
  if (difference.different == 0 || !difference.first) return "";
  const FirstDifference& first = *difference.first;
  return fmt::format("{} of {} fixed replies differ; the first, number {}, after {} characters: \"{}\", not \"{}\"", difference.different,
                     difference.compared, first.request + 1, first.character, first.b, first.a);
}

}  // namespace teapot::workbench
