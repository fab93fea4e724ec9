#include "text/reasoning_parser.h"

#include <algorithm>

namespace teapot::text {

ReasoningParser::ReasoningParser(bool starts_in_reasoning, std::string_view call_start)
    : starts_in_reasoning_(starts_in_reasoning), call_start_(call_start) {}

ReasoningParser::Split ReasoningParser::push(std::string_view piece) {
  undecided_ += piece;
  return read(false);
}

ReasoningParser::Split ReasoningParser::finish() { return read(true); }

ReasoningParser::Split ReasoningParser::read(bool at_end) {
  Split split;
  if (place_ == Place::kStart && !read_start(at_end)) return split;
  if (place_ == Place::kReasoning && !read_reasoning(split)) {
    if (at_end) {
      send_reasoning(undecided_, split);
      undecided_.clear();
      space_.drop();
    }
    return split;
  }
  if (place_ == Place::kLineBreaks) {
    undecided_.erase(0, std::min(undecided_.size(), undecided_.find_first_not_of("\r\n")));
    if (undecided_.empty()) return split;
    place_ = Place::kRest;
  }
  split.rest = std::move(undecided_);
  undecided_.clear();
  return split;
}

// False: not enough is there to decide.
bool ReasoningParser::read_start(bool at_end) {
  checked_ = skip_white_space(undecided_, checked_);
  const TagAt think = tag_at(undecided_, checked_, kThinkOpen);
  if (think == TagAt::kOpen && !at_end) return false;
  if (think == TagAt::kYes) undecided_.erase(0, checked_ + kThinkOpen.size());
  checked_ = 0;
  place_ = starts_in_reasoning_ || think == TagAt::kYes ? Place::kReasoning : Place::kRest;
  return true;
}

// False: all that is certain was sent, and the reasoning goes on.
bool ReasoningParser::read_reasoning(Split& split) {
  size_t pos = 0;
  const auto hold_from = [&](size_t begin) {
    send_reasoning(std::string_view(undecided_).substr(0, begin), split);
    undecided_.erase(0, begin);
    return false;
  };
  while ((pos = undecided_.find('<', pos)) != undecided_.npos) {
    const TagAt close = tag_at(undecided_, pos, kThinkClose);
    if (close == TagAt::kOpen) return hold_from(pos);
    if (close == TagAt::kYes) {
      hold_from(pos);
      end_reasoning(kThinkClose.size(), Place::kLineBreaks);
      return true;
    }
    const TagAt call = call_start_.empty() ? TagAt::kNo : tag_at(undecided_, pos, kCallOpen);
    if (call == TagAt::kOpen) return hold_from(pos);
    if (call == TagAt::kYes) {
      // A held tag stands at the beginning: what was checked behind it needs no second look.
      const size_t inside = skip_white_space(undecided_, pos + std::max(kCallOpen.size(), pos == 0 ? checked_ : 0));
      const TagAt start = tag_at(undecided_, inside, call_start_);
      checked_ = 0;
      if (start == TagAt::kOpen) {
        checked_ = inside - pos;
        return hold_from(pos);
      }
      if (start == TagAt::kYes) {
        hold_from(pos);
        ended_by_call_ = true;
        end_reasoning(0, Place::kRest);
        return true;
      }
    }
    ++pos;
  }
  return hold_from(undecided_.size());
}

void ReasoningParser::send_reasoning(std::string_view text, Split& split) {
  if (!reasoning_sent_) text.remove_prefix(skip_white_space(text, 0));
  if (text.empty()) return;
  reasoning_sent_ = true;
  space_.add(text, split.reasoning);
}

void ReasoningParser::end_reasoning(size_t rest_begin, Place place) {
  undecided_.erase(0, rest_begin);
  space_.drop();
  place_ = place;
}

}  // namespace teapot::text
