// Added tokens: texts that become one token wherever they stand, before anything else looks at the text (spec 6.1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace teapot::text {

struct AddedToken {
  int64_t id = 0;
  std::string content;
  bool special = false;      // a control token: not part of a reply's text
  bool lstrip = false;       // takes the white space before it with it
  bool rstrip = false;       // and behind it
  bool single_word = false;  // not inside of a word
  bool normalized = false;   // looked for in the normalised text, after the others
};

// Finds added tokens: the left-most first, of those that begin there the longest. Immutable; safe to use from several threads.
class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  // Contents must not be empty.
  explicit AddedTokenMatcher(const std::vector<AddedToken>& tokens);

  bool empty() const { return tokens_.empty(); }

  // Part of a text: an added token, or what lies between two of them (token null, text not empty).
  struct Part {
    std::string_view text;
    const AddedToken* token;
  };

  // text must be well-formed UTF-8.
  std::vector<Part> split(std::string_view text) const;

 private:
  const AddedToken* longest_at(std::string_view text) const;

  std::map<std::string, AddedToken, std::less<>> tokens_;  // by content
  // Lengths of the tokens that begin with a byte, the longest first: few, and for most bytes none.
  std::vector<std::vector<size_t>> lengths_;  // [256]
};

}  // namespace teapot::text
