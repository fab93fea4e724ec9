#include "cpu/check_returns.h"

#include <algorithm>
#include <limits>

namespace teapot::cpu {
namespace {

Status check_range(const plan::StepPacket& packet, const plan::BiasRange& range, size_t vocab) {
  if (uint64_t{range.first} + range.count > packet.biases.size()) {
    return fail(ErrorKind::kInternal, "packet: biases {} to {} of a row, of {}", range.first, uint64_t{range.first} + range.count,
                packet.biases.size());
  }
  int64_t before = -1;
  for (const auto& [id, bias] : std::span(packet.biases).subspan(range.first, range.count)) {
    if (id <= before || static_cast<size_t>(id) >= vocab) {
      return fail(ErrorKind::kInternal, "packet: a bias of id {} after {}; expected rising ids below {}", id, before, vocab);
    }
    if (!(bias < std::numeric_limits<float>::infinity())) return fail(ErrorKind::kInternal, "packet: the bias of id {} is {}", id, bias);
    before = id;
  }
  return {};
}

Status check_masks(const plan::StepPacket& packet, size_t vocab) {
  if (packet.masks.empty()) return {};
  if (packet.masks.size() != packet.returns.size()) {
    return fail(ErrorKind::kInternal, "packet of {} masks for {} rows", packet.masks.size(), packet.returns.size());
  }
  const auto same = [](const plan::BiasRange& a, const plan::BiasRange& b) { return a.first == b.first && a.count == b.count; };
  for (auto mask = packet.masks.begin(); mask != packet.masks.end(); ++mask) {
    if (mask->count == 0) continue;
    // Rows share ranges as a rule: each is walked once.
    const bool known = std::any_of(packet.masks.begin(), mask, [&](const plan::BiasRange& earlier) { return same(earlier, *mask); });
    if (!known) TEAPOT_CHECK(check_range(packet, *mask, vocab));
  }
  return {};
}

}  // namespace

Status check_returns(const plan::StepPacket& packet, size_t vocab) {
  if (vocab == 0 && std::ranges::any_of(packet.returns, [](plan::RowReturn r) { return r != plan::RowReturn::kNothing; })) {
    return fail(ErrorKind::kInternal, "packet asks for results of a plan without a head");
  }
  const bool ranked = std::ranges::find(packet.returns, plan::RowReturn::kTopK) != packet.returns.end();
  const size_t most = std::min<size_t>(plan::kMaxTopK, vocab);
  if (ranked && (packet.top_k == 0 || packet.top_k > most)) {
    return fail(ErrorKind::kInternal, "packet: top_k is {}; expected 1 to {}", packet.top_k, most);
  }
  return check_masks(packet, vocab);
}

}  // namespace teapot::cpu
