// The tags that the models write around reasoning and calls, and how they are told from text while the text still grows.
#pragma once

#include <string>
#include <string_view>

namespace teapot::text {

inline constexpr std::string_view kThinkOpen = "<think>";
inline constexpr std::string_view kThinkClose = "</think>";
inline constexpr std::string_view kCallOpen = "<tool_call>";
inline constexpr std::string_view kCallClose = "</tool_call>";

inline constexpr std::string_view kWhiteSpace = " \t\r\n";

inline bool is_white_space(char c) { return kWhiteSpace.find(c) != kWhiteSpace.npos; }

std::string_view trim(std::string_view text);

// What a growing text says about a tag at one place.
enum class TagAt { kNo, kYes, kOpen };  // kOpen: the text ends inside the tag

TagAt tag_at(std::string_view text, size_t pos, std::string_view tag);

// Skips white space: the first place from pos on that has none, or text.size().
size_t skip_white_space(std::string_view text, size_t pos);

// The first place where the tag is or may begin once more text comes; text.size() if there is none. The tag's first character
// must not occur in it again, as it is with "<".
size_t find_tag(std::string_view text, size_t pos, std::string_view tag);

// Passes text on and holds back the white space at its end, which may turn out to stand before a tag and be dropped.
class SpaceHold {
 public:
  void add(std::string_view text, std::string& out);
  void flush(std::string& out);
  void drop() { held_.clear(); }

 private:
  std::string held_;
};

}  // namespace teapot::text
