// What is known of configurations from starting them once: each is started and looked at only once, and one that failed never again.
#pragma once

#include <map>
#include <string>

#include "workbench/bench/reply_difference.h"
#include "workbench/tune/search.h"

namespace teapot::workbench {

class Starts {
 public:
  explicit Starts(Trials& trials) : trials_(trials) {}

  Result<const Validation*> look_at(const KnobProfile& profile);
  const Validation& remember(const KnobProfile& profile, Validation validation);
  // A configuration that failed later, under load.
  void set_failed(const KnobProfile& profile, TrialFault fault, std::string what);

 private:
  Trials& trials_;
  std::map<KnobProfile, Validation> known_;
};

MoveState broken_state(TrialFault fault);

// "reply 2 differs after 31 characters: 'tree light', not 'river stone'"; empty: all are equal.
std::string text_difference(const std::vector<std::string>& expected, const std::vector<std::string>& found);

}  // namespace teapot::workbench
