// Greedy replies under load: A and B of a pair answer the same prompts. Only those to one user are compared, what others get at the same
// time may round them otherwise; and only where A writes the same from start to start.
#pragma once

#include <string>
#include <vector>

#include "workbench/tune/trials.h"

namespace teapot::workbench {

class LoadReplies {
 public:
  explicit LoadReplies(const std::vector<uint32_t>& parallel);

  // A against A. Returns, once, why nothing is compared from now on; empty: nothing new.
  std::string add_null(const PairOutcome& outcome);
  bool compared() const { return compared_; }
  // Empty: they are the same, or not compared.
  std::string difference(const PairOutcome& outcome) const;

 private:
  bool one_user_, compared_ = false, given_up_ = false;
};

}  // namespace teapot::workbench
