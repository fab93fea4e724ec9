#include "workbench/trace/call_table.h"

#include <algorithm>
#include <tuple>

namespace teapot::workbench::trace {
namespace {

using Key = std::tuple<uint32_t, int64_t>;

Key key_of(const Call& call) { return {call.scope, call.id}; }

}  // namespace

void CallTable::finish() {
  calls_.sort([](const Call& a, const Call& b) { return std::tie(a.scope, a.id, a.start) < std::tie(b.scope, b.id, b.start); });
  at_ = 0;
}

// Kernels come about in the order of their calls: the next one is mostly where the last one was, or behind it.
Calls CallTable::find(uint32_t scope, int64_t id) {
  const Key key{scope, id};
  const auto here = [&](size_t at) { return at < calls_.size() && key_of(calls_[at]) == key; };
  size_t at = here(at_) ? at_ : at_ + 1;
  if (!here(at) || (at > 0 && here(at - 1))) {
    at = static_cast<size_t>(std::ranges::lower_bound(calls_.begin(), calls_.end(), key, {}, key_of) - calls_.begin());
  }
  Calls found;
  for (size_t i = at; here(i); ++i) {
    if (i == at) found = {calls_[i].start, false, true};
    found.replays = found.replays || calls_[i].replays;
    found.known = found.known && calls_[i].process == calls_[at].process;
  }
  if (found.start == kNoTime) return found;
  if (at / SpilledRows<Call>::kWindow != at_ / SpilledRows<Call>::kWindow) calls_.passed(at);
  at_ = at;
  return found;
}

}  // namespace teapot::workbench::trace
