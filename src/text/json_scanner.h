// Finds where a JSON object ends while its text grows, and says at once when the text cannot become JSON any more.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace teapot::text {

// Strict RFC 8259, but for what only a parser of the whole can tell: UTF-8, surrogate pairs, the range of numbers.
class JsonObjectScanner {
 public:
  enum class State { kOpen, kComplete, kBroken };

  static constexpr size_t kMaxDepth = 256;  // deeper is broken: no call needs it, and readers of its JSON have limits too

  void reset();

  // Reads one more character. White space before the object is allowed; nothing is to be fed after kComplete or kBroken.
  State feed(char c);

 private:
  enum class Expect : uint8_t {
    kObject,    // the object itself
    kKeyOrEnd,  // after {
    kKey,       // after , in an object
    kColon,
    kValue,
    kValueOrEnd,  // after [
    kCommaOrEnd,
    kString,   // inside a string
    kEscape,   // after a backslash
    kHex,      // in \uXXXX
    kLiteral,  // in true, false, null
    kMinus,    // after -: a digit
    kZero,     // after a leading 0
    kInteger,
    kFraction,  // after the point: a digit
    kFractionMore,
    kExponent,      // after e: a sign or a digit
    kExponentSign,  // after the sign: a digit
    kExponentMore,
  };

  State go(Expect expect);
  State open(bool object);
  State close(bool object);
  State begin_value(char c);
  State in_string(char c);
  State in_number(char c);
  State after_value(char c);

  Expect expect_ = Expect::kObject;
  std::vector<bool> objects_;  // what is open, outermost first: an object, or an array
  bool string_is_key_ = false;
  int hex_left_ = 0;
  std::string_view literal_left_;
};

}  // namespace teapot::text
