#include "text/stop_strings.h"

#include <cassert>
#include <limits>

namespace teapot::text {

Result<StopStrings> StopStrings::create(std::vector<std::string> stops, bool include_in_output) {
  size_t bytes = 0;
  for (size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].empty()) return fail(ErrorKind::kInvalid, "stop[{}]: a stop string is empty", i);
    bytes += stops[i].size();
  }
  if (bytes >= std::numeric_limits<int32_t>::max()) return fail(ErrorKind::kInvalid, "stop: {} bytes of stop strings are too many", bytes);
  StopStrings result;
  result.include_in_output_ = include_in_output;
  result.nodes_.emplace_back();
  for (size_t i = 0; i < stops.size(); ++i) result.add(stops[i], static_cast<int32_t>(i));
  result.link_suffixes();
  result.stops_ = std::move(stops);
  return result;
}

void StopStrings::add(std::string_view stop, int32_t index) {
  uint32_t node = 0;
  for (const char byte : stop) {
    uint32_t below = child(node, byte);
    if (below == 0) {
      below = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({.next_sibling = nodes_[node].first_child, .depth = nodes_[node].depth + 1, .byte = byte});
      nodes_[node].first_child = below;
    }
    node = below;
  }
  if (nodes_[node].longest_match < 0) nodes_[node].longest_match = index;
}

// Breadth first, so that a node's suffix, being shorter, is finished before it.
void StopStrings::link_suffixes() {
  std::vector<uint32_t> order = {0};
  order.reserve(nodes_.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t parent = order[i];
    for (uint32_t node = nodes_[parent].first_child; node != 0; node = nodes_[node].next_sibling) {
      nodes_[node].suffix = parent == 0 ? 0 : next(nodes_[parent].suffix, nodes_[node].byte);
      if (nodes_[node].longest_match < 0) nodes_[node].longest_match = nodes_[nodes_[node].suffix].longest_match;
      order.push_back(node);
    }
  }
}

uint32_t StopStrings::child(uint32_t node, char byte) const {
  uint32_t below = nodes_[node].first_child;
  while (below != 0 && nodes_[below].byte != byte) below = nodes_[below].next_sibling;
  return below;
}

// Each step down the suffixes gives back depth that an earlier byte has added: linear over the text.
uint32_t StopStrings::next(uint32_t node, char byte) const {
  while (true) {
    if (const uint32_t below = child(node, byte); below != 0) return below;
    if (node == 0) return 0;
    node = nodes_[node].suffix;
  }
}

StopStrings::Piece StopStrings::push(std::string_view piece) {
  if (matched_) return {};
  size_t end = 0;  // bytes of the piece that were read
  while (end < piece.size() && !matched_) {
    state_ = next(state_, piece[end++]);
    if (nodes_[state_].longest_match >= 0) matched_ = nodes_[state_].longest_match;
  }
  const size_t held = held_.size() - held_begin_;
  size_t keep = nodes_[state_].depth;  // bytes that are not emitted, at the end of what was read
  if (matched_) keep = include_in_output_ ? 0 : stops_[*matched_].size();
  assert(keep <= held + end);
  const size_t emit = held + end - keep;
  Piece result;
  if (emit <= held) {
    result.emitted = held_.substr(held_begin_, emit);
    held_begin_ += emit;
    held_ += piece.substr(0, end);
  } else {
    result.emitted = held_.substr(held_begin_);
    result.emitted += piece.substr(0, emit - held);
    held_ = piece.substr(emit - held, keep);
    held_begin_ = 0;
  }
  if (held_begin_ > held_.size() / 2) {  // not each time: that would be quadratic for a long held text
    held_.erase(0, held_begin_);
    held_begin_ = 0;
  }
  if (matched_) result.matched = stops_[*matched_];
  return result;
}

StopStrings::Finish StopStrings::finish(End end) {
  if (matched_) return {"", "stop", stops_[*matched_]};
  Finish result{held_.substr(held_begin_), end == End::kLength ? "length" : "stop", std::nullopt};
  held_.clear();
  held_begin_ = 0;
  state_ = 0;
  return result;
}

}  // namespace teapot::text
