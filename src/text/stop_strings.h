// Stop strings in a stream of text: cuts the text where a stop string is complete, over the borders of the pieces.
//
// The match that ends first wins; of several that end there, the longest. What cannot belong to a stop string any more is emitted
// at once: only the longest end of the text that is a proper prefix of some stop string is held back. Bytes are compared as they
// are (composed and decomposed characters differ). Time is linear in the text, memory in the stop strings, however long they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace teapot::text {

class StopStrings {
 public:
  enum class End { kEos, kLength };  // why the text ended, if no stop string ended it

  struct Piece {
    std::string emitted;
    std::optional<std::string> matched;  // set by the piece that completes a stop string
  };

  struct Finish {
    std::string flush;          // what was held back and turned out to be text
    const char* finish_reason;  // "stop" or "length", as OpenAI names them
    std::optional<std::string> matched;
  };

  // include_in_output: the text is cut behind the stop string, not before it. Error (kInvalid): a stop string is empty.
  static Result<StopStrings> create(std::vector<std::string> stops, bool include_in_output);

  // After a match nothing more is emitted.
  Piece push(std::string_view piece);

  Finish finish(End end);

  bool matched() const { return matched_.has_value(); }

 private:
  // A node of the Aho-Corasick automaton stands for a prefix of a stop string. 0, the root, is the empty one.
  struct Node {
    uint32_t first_child = 0;  // 0: none (the root is nobody's child)
    uint32_t next_sibling = 0;
    uint32_t suffix = 0;         // the longest proper suffix of this prefix that is a prefix of a stop string too
    uint32_t depth = 0;          // bytes of this prefix
    int32_t longest_match = -1;  // index of the longest stop string that ends here, -1: none
    char byte = 0;               // the last of this prefix
  };

  StopStrings() = default;
  void add(std::string_view stop, int32_t index);
  void link_suffixes();
  uint32_t child(uint32_t node, char byte) const;
  uint32_t next(uint32_t node, char byte) const;

  std::vector<std::string> stops_;
  bool include_in_output_ = false;
  std::vector<Node> nodes_;
  uint32_t state_ = 0;
  std::string held_;  // from held_begin_ on: the last nodes_[state_].depth bytes of the text
  size_t held_begin_ = 0;
  std::optional<size_t> matched_;
};

}  // namespace teapot::text
