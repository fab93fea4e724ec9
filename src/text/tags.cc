#include "text/tags.h"

#include <algorithm>

namespace teapot::text {

std::string_view trim(std::string_view text) {
  const size_t begin = skip_white_space(text, 0);
  return begin == text.size() ? std::string_view() : text.substr(begin, text.find_last_not_of(kWhiteSpace) + 1 - begin);
}

TagAt tag_at(std::string_view text, size_t pos, std::string_view tag) {
  const std::string_view here = text.substr(pos, tag.size());
  if (!tag.starts_with(here)) return TagAt::kNo;
  return here.size() == tag.size() ? TagAt::kYes : TagAt::kOpen;
}

size_t skip_white_space(std::string_view text, size_t pos) { return std::min(text.size(), text.find_first_not_of(kWhiteSpace, pos)); }

size_t find_tag(std::string_view text, size_t pos, std::string_view tag) {
  for (; (pos = text.find(tag[0], pos)) != text.npos; ++pos) {
    if (tag_at(text, pos, tag) != TagAt::kNo) return pos;
  }
  return text.size();
}

void SpaceHold::add(std::string_view text, std::string& out) {
  const size_t last = text.find_last_not_of(kWhiteSpace);
  if (last != text.npos) {
    flush(out);
    out += text.substr(0, last + 1);
    text.remove_prefix(last + 1);
  }
  held_ += text;
}

void SpaceHold::flush(std::string& out) {
  out += held_;
  held_.clear();
}

}  // namespace teapot::text
