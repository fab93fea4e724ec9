#include "text/jinja/markup.h"

namespace teapot::text::jinja {

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
        break;
    }
  }
  return out;
}

Value join_texts(Heap& heap, const Value& left, const Value& right) {
  const bool safe = left.safe() || right.safe();
  heap.expect_room(left.as_text().size() + right.as_text().size());
  std::string text;
  text.reserve(left.as_text().size() + right.as_text().size());
  text += safe && !left.safe() ? escape_html(left.as_text()) : left.as_text();
  text += safe && !right.safe() ? escape_html(right.as_text()) : right.as_text();
  return new_text(heap, text, safe);
}

}  // namespace teapot::text::jinja
