#include "text/json_scanner.h"

#include "text/tags.h"

namespace teapot::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

void JsonObjectScanner::reset() {
  expect_ = Expect::kObject;
  objects_.clear();
}

JsonObjectScanner::State JsonObjectScanner::go(Expect expect) {
  expect_ = expect;
  return State::kOpen;
}

JsonObjectScanner::State JsonObjectScanner::open(bool object) {
  if (objects_.size() == kMaxDepth) return State::kBroken;
  objects_.push_back(object);
  return go(object ? Expect::kKeyOrEnd : Expect::kValueOrEnd);
}

JsonObjectScanner::State JsonObjectScanner::close(bool object) {
  if (objects_.back() != object) return State::kBroken;
  objects_.pop_back();
  expect_ = Expect::kCommaOrEnd;
  return objects_.empty() ? State::kComplete : State::kOpen;
}

JsonObjectScanner::State JsonObjectScanner::feed(char c) {
  switch (expect_) {
    case Expect::kString:
    case Expect::kEscape:
    case Expect::kHex:
      return in_string(c);
    case Expect::kLiteral:
      if (c != literal_left_[0]) return State::kBroken;
      literal_left_.remove_prefix(1);
      return go(literal_left_.empty() ? Expect::kCommaOrEnd : Expect::kLiteral);
    case Expect::kMinus:
    case Expect::kZero:
    case Expect::kInteger:
    case Expect::kFraction:
    case Expect::kFractionMore:
    case Expect::kExponent:
    case Expect::kExponentSign:
    case Expect::kExponentMore:
      return in_number(c);
    default:
      break;
  }
  if (is_white_space(c)) return State::kOpen;
  switch (expect_) {
    case Expect::kObject:
      return c == '{' ? open(true) : State::kBroken;
    case Expect::kKeyOrEnd:
      if (c == '}') return close(true);
      [[fallthrough]];
    case Expect::kKey:
      string_is_key_ = true;
      return c == '"' ? go(Expect::kString) : State::kBroken;
    case Expect::kColon:
      return c == ':' ? go(Expect::kValue) : State::kBroken;
    case Expect::kValueOrEnd:
      if (c == ']') return close(false);
      [[fallthrough]];
    case Expect::kValue:
      return begin_value(c);
    default:
      return after_value(c);
  }
}

JsonObjectScanner::State JsonObjectScanner::begin_value(char c) {
  const auto literal = [this](std::string_view left) {
    literal_left_ = left;
    return go(Expect::kLiteral);
  };
  switch (c) {
    case '{':
      return open(true);
    case '[':
      return open(false);
    case '"':
      string_is_key_ = false;
      return go(Expect::kString);
    case 't':
      return literal("rue");
    case 'f':
      return literal("alse");
    case 'n':
      return literal("ull");
    case '-':
      return go(Expect::kMinus);
    case '0':
      return go(Expect::kZero);
    default:
      return is_digit(c) ? go(Expect::kInteger) : State::kBroken;
  }
}

JsonObjectScanner::State JsonObjectScanner::in_string(char c) {
  if (expect_ == Expect::kHex) {
    if (!is_hex(c)) return State::kBroken;
    return go(--hex_left_ == 0 ? Expect::kString : Expect::kHex);
  }
  if (expect_ == Expect::kEscape) {
    if (c == 'u') {
      hex_left_ = 4;
      return go(Expect::kHex);
    }
    return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos ? go(Expect::kString) : State::kBroken;
  }
  if (static_cast<unsigned char>(c) < 0x20) return State::kBroken;
  if (c == '\\') return go(Expect::kEscape);
  if (c == '"') return go(string_is_key_ ? Expect::kColon : Expect::kCommaOrEnd);
  return State::kOpen;
}

JsonObjectScanner::State JsonObjectScanner::in_number(char c) {
  const bool digit = is_digit(c);
  switch (expect_) {
    case Expect::kMinus:
      if (!digit) return State::kBroken;
      return go(c == '0' ? Expect::kZero : Expect::kInteger);
    case Expect::kFraction:
      return digit ? go(Expect::kFractionMore) : State::kBroken;
    case Expect::kExponent:
      if (c == '+' || c == '-') return go(Expect::kExponentSign);
      [[fallthrough]];
    case Expect::kExponentSign:
      return digit ? go(Expect::kExponentMore) : State::kBroken;
    default:
      break;
  }
  // From here on the number could end.
  if (digit) return expect_ == Expect::kZero ? State::kBroken : State::kOpen;
  if (c == '.' && (expect_ == Expect::kZero || expect_ == Expect::kInteger)) return go(Expect::kFraction);
  if ((c == 'e' || c == 'E') && expect_ != Expect::kExponentMore) return go(Expect::kExponent);
  expect_ = Expect::kCommaOrEnd;
  return is_white_space(c) ? State::kOpen : after_value(c);
}

JsonObjectScanner::State JsonObjectScanner::after_value(char c) {
  if (c == ',') return go(objects_.back() ? Expect::kKey : Expect::kValue);
  if (c == '}') return close(true);
  if (c == ']') return close(false);
  return State::kBroken;
}

}  // namespace teapot::text
