#include "plan/check_packet.h"

#include <algorithm>
#include <limits>

namespace teapot::plan {
namespace {

Status check_range(const StepPacket& packet, const BiasRange& range, size_t vocab) {
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

Status check_masks(const StepPacket& packet, size_t vocab) {
  if (packet.masks.empty()) return {};
  if (packet.masks.size() != packet.returns.size()) {
    return fail(ErrorKind::kInternal, "packet of {} masks for {} rows", packet.masks.size(), packet.returns.size());
  }
  const auto same = [](const BiasRange& a, const BiasRange& b) { return a.first == b.first && a.count == b.count; };
  for (auto mask = packet.masks.begin(); mask != packet.masks.end(); ++mask) {
    if (mask->count == 0) continue;
    // Rows share ranges as a rule: each is walked once.
    const bool known = std::any_of(packet.masks.begin(), mask, [&](const BiasRange& earlier) { return same(earlier, *mask); });
    if (!known) TEAPOT_CHECK(check_range(packet, *mask, vocab));
  }
  return {};
}

Status check_rows(const StepPacket& packet, const PacketLimits& limits) {
  if (packet.tokens.size() != limits.rows || packet.returns.size() != limits.rows) {
    return fail(ErrorKind::kInternal, "packet of {} tokens, {} returns; the plan is for {} rows", packet.tokens.size(),
                packet.returns.size(), limits.rows);
  }
  size_t covered = 0;
  for (const SequenceRows& sequence : packet.sequences) {
    if (sequence.first_row != covered || sequence.rows == 0) {
      return fail(ErrorKind::kInternal, "packet: {} rows of a sequence at row {}, expected some at row {}", sequence.rows,
                  sequence.first_row, covered);
    }
    covered += sequence.rows;
  }
  if (covered != limits.rows) return fail(ErrorKind::kInternal, "packet: sequences cover {} of {} rows", covered, limits.rows);
  for (const int32_t token : packet.tokens) {
    if (token < 0 || static_cast<size_t>(token) >= limits.tokens) {
      return fail(ErrorKind::kInvalid, "token {}: the vocabulary has {}", token, limits.tokens);
    }
  }
  return {};
}

Status check_head_rows(const StepPacket& packet, size_t vocab) {
  if (packet.head_rows.empty()) return {};
  const auto whole = [&](uint64_t row) { return row % kHeadRowGroup == 0 || row == vocab; };
  uint64_t end = 0;
  for (const auto& [first, count] : packet.head_rows) {
    if (count == 0 || first < end || !whole(first) || !whole(uint64_t{first} + count) || uint64_t{first} + count > vocab) {
      return fail(ErrorKind::kInternal, "packet: {} rows of the head at {}, after {}; expected rising groups of {} below {}", count, first,
                  end, kHeadRowGroup, vocab);
    }
    end = uint64_t{first} + count;
  }
  for (const RowReturn asked : packet.returns) {
    if (asked != RowReturn::kNothing && asked != RowReturn::kDraft) {
      return fail(ErrorKind::kInternal, "packet: a row that is no draft asks a part of the head");
    }
  }
  return {};
}

Status check_returns(const StepPacket& packet, size_t vocab) {
  if (vocab == 0 && std::ranges::any_of(packet.returns, [](RowReturn r) { return r != RowReturn::kNothing; })) {
    return fail(ErrorKind::kInternal, "packet asks for results of a plan without a head");
  }
  const bool ranked = std::ranges::find(packet.returns, RowReturn::kTopK) != packet.returns.end();
  const size_t most = std::min<size_t>(kMaxTopK, vocab);
  if (ranked && (packet.top_k == 0 || packet.top_k > most)) {
    return fail(ErrorKind::kInternal, "packet: top_k is {}; expected 1 to {}", packet.top_k, most);
  }
  TEAPOT_CHECK(check_head_rows(packet, vocab));
  return check_masks(packet, vocab);
}

}  // namespace

Status check_packet(const StepPacket& packet, const PacketLimits& limits) {
  TEAPOT_CHECK(check_rows(packet, limits));
  return check_returns(packet, limits.vocab);
}

}  // namespace teapot::plan
