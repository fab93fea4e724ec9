#include "text/content_joiner.h"

namespace teapot::text {

void ContentJoiner::text(std::string_view text, std::string& out) {
  if (!drop_think_close_) {
    pass(text, out);
    return;
  }
  tag_ += text;
  const size_t at = find_tag(tag_, 0, kThinkClose);
  pass(std::string_view(tag_).substr(0, at), out);
  tag_.erase(0, at);
  if (tag_.size() < kThinkClose.size()) return;
  drop_think_close_ = false;
  pass(std::string_view(tag_).substr(kThinkClose.size()), out);
  tag_.clear();
}

void ContentJoiner::pass(std::string_view text, std::string& out) {
  if (after_call_ && !part_has_text_) text.remove_prefix(skip_white_space(text, 0));
  if (text.empty()) return;
  if (after_call_ && !part_has_text_ && any_text_) out += '\n';
  part_has_text_ = true;
  const size_t before = out.size();
  space_.add(text, out);
  any_text_ |= out.size() > before;
}

void ContentJoiner::call(std::string& out) {
  pass(tag_, out);
  tag_.clear();
  space_.drop();
  after_call_ = true;
  part_has_text_ = false;
}

void ContentJoiner::finish(std::string& out) {
  pass(tag_, out);
  tag_.clear();
  space_.flush(out);
}

}  // namespace teapot::text
