// A regular expression in which {value} stands for a setting's value, as it was handed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

// "n_threads = {value}\b". {=TEXT} stands for one text, whatever the value is: "fused = {=0}\b" of a switch that takes something away.
struct CheckPattern {
  std::string expression;
  bool caseless = false;

  // It has a place that can differ from what was expected.
  bool compares() const;
  bool takes_the_value() const;
};

// kInvalid: PCRE2 does not take it, or more than one place of it can differ.
Status check(const CheckPattern& pattern);

struct PatternMatch {
  enum class Kind : uint8_t { kNothing, kAsExpected, kOther };  // kOther: it is there, with another text in that place
  Kind kind = Kind::kNothing;
  std::string found;  // kAsExpected: the text that matched; kOther: what stands in that place
};

// Line by line; one line that is as expected is enough. Booleans match each other's spellings (1, true, on, enabled), 0.5 matches 0.50,
// and blanks may follow a comma.
PatternMatch look_for(const CheckPattern& pattern, std::string_view value, std::string_view text);

}  // namespace teapot::workbench
