#include "workbench/bench/wrap.h"

#include <algorithm>

namespace teapot::workbench {

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string wrap(std::string_view head, std::string_view text, size_t width) {
  std::string out(head);
  size_t at = head.size();
  bool first = true;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \n\r\t"), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(" \n\r\t"));
    text.remove_prefix(word.size());
    if (!first && at + 1 + columns(word) > width) {
      out += '\n' + std::string(head.size(), ' ');
      at = head.size();
      first = true;
    }
    if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += columns(word);
    first = false;
  }
  return out + '\n';
}

}  // namespace teapot::workbench
