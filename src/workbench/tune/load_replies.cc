#include "workbench/tune/load_replies.h"

#include <algorithm>

namespace teapot::workbench {

LoadReplies::LoadReplies(const std::vector<uint32_t>& parallel) : one_user_(std::ranges::find(parallel, 1u) != parallel.end()) {}

std::string LoadReplies::add_null(const PairOutcome& outcome) {
  if (given_up_) return "";
  std::string why;
  if (!one_user_) {
    why = "no load is of one user";
  } else if (outcome.a.hash.empty() || outcome.b.hash.empty()) {
    why = "none were kept";
  } else if (outcome.a.hash != outcome.b.hash) {
    why = "A's own differ from start to start";
  }
  compared_ = why.empty();
  given_up_ = !compared_;
  return compared_ ? "" : "replies under load are not compared: " + why;
}

std::string LoadReplies::difference(const PairOutcome& outcome) const {
  const std::string &a = outcome.a.hash, &b = outcome.b.hash;
  if (!compared_ || a.empty() || b.empty() || a == b) return "";
  return fmt::format("replies under load differ, with one user: hash {}, not {}", b, a);
}

}  // namespace teapot::workbench
