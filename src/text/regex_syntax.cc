#include "text/regex_syntax.h"

#include <optional>
#include <span>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

constexpr uint32_t kMaxRepeats = 1000;
constexpr int kMaxGroups = 200;

// Every character goes over as a number: no character is then special to PCRE2.
std::string quoted(char32_t code) { return fmt::format("\\x{{{:X}}}", static_cast<uint32_t>(code)); }

std::string ranges_text(std::span<const CodeRange> ranges) {
  std::string text;
  for (const auto [first, last] : ranges) text += first == last ? quoted(first) : quoted(first) + '-' + quoted(last);
  return text;
}

// Items of a class that together are all characters but those of \s.
std::string not_white_space() {
  std::string text;
  char32_t next = 0;
  for (const auto [first, last] : white_space()) {
    if (next < first) text += quoted(next) + '-' + quoted(first - 1);
    next = last + 1;
  }
  return text + quoted(next) + '-' + quoted(0x10FFFF);
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view pattern) : rest_(pattern), size_(pattern.size()) {}

  Result<std::string> run() {
    if (take("(?i)")) out_ += "(?i)";
    while (!rest_.empty()) TEAPOT_CHECK(item());
    return std::move(out_);
  }

 private:
  std::unexpected<Error> refuse(std::string_view what) const {
    return fail(ErrorKind::kUnsupported, "regex, at byte {}: {} is not supported", size_ - rest_.size(), what);
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  char32_t take_character() {
    const Utf8Step step = next_utf8(rest_);
    rest_.remove_prefix(step.length);
    return step.code;
  }

  Status item() {
    switch (rest_[0]) {
      case '(':
        return group();
      case ')':
      case '|':
        out_ += rest_[0];
        rest_.remove_prefix(1);
        return {};
      case '*':
      case '+':
      case '?':
        return quantifier();
      case '{':
        return repeats();
      case '[':
        return character_class();
      case '\\':
        return escape_outside();
      case '.':
      case '^':
      case '$':
        return refuse(fmt::format("'{}'", rest_[0]));
      default:
        out_ += quoted(take_character());
        return {};
    }
  }

  // PCRE2 parses groups by recursion: a count bounds their depth.
  Status group() {
    if (++groups_ > kMaxGroups) return refuse(fmt::format("more than {} groups", kMaxGroups));
    for (const std::string_view start : {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
      if (!take(start)) continue;
      out_ += start;
      return {};
    }
    if (rest_.starts_with("(?") || rest_.starts_with("(*")) return refuse(fmt::format("'{}'", rest_.substr(0, 3)));
    take("(");
    out_ += "(?:";  // what a group captured is never asked for
    return {};
  }

  Status quantifier() {
    out_ += rest_[0];
    rest_.remove_prefix(1);
    if (take("?"))
      out_ += '?';
    else if (take("+"))
      out_ += '+';
    return {};
  }

  std::optional<uint32_t> number() {
    uint32_t value = 0;
    bool any = false;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9' && value <= kMaxRepeats; rest_.remove_prefix(1)) {
      value = value * 10 + static_cast<uint32_t>(rest_[0] - '0');
      any = true;
    }
    return any ? std::optional(value) : std::nullopt;
  }

  Status repeats() {
    take("{");
    const auto least = number();
    const bool comma = take(",");
    const auto most = comma ? number() : least;
    if (!take("}") || (!least && !most)) return refuse("'{' that is not a repeat count");
    if (least.value_or(0) > kMaxRepeats || most.value_or(0) > kMaxRepeats) return refuse(fmt::format("more than {} repeats", kMaxRepeats));
    out_ += fmt::format("{{{}{}", least.value_or(0), comma ? "," : "");
    if (comma && most) out_ += std::to_string(*most);
    out_ += '}';
    // Ruby reads {n}+ and {n}? in its own way.
    if (rest_.starts_with('+') || (!comma && rest_.starts_with('?'))) return refuse("a sign behind a repeat count");
    if (take("?")) out_ += '?';
    return {};
  }

  // The items of a class for \p{L} and its like; the opening "\p" was taken.
  Result<std::string> property() {
    if (take("{L}")) return "\\p{L}" + ranges_text(newer_letters());
    if (take("{M}")) return "\\p{M}" + ranges_text(newer_marks());
    if (take("{N}")) return "\\p{N}" + ranges_text(newer_numbers());
    return refuse(fmt::format("'\\p{}'; known are \\p{{L}}, \\p{{M}} and \\p{{N}}:", rest_.substr(0, rest_.find('}') + 1)));
  }

  // A single character behind a backslash, which was taken.
  Result<char32_t> escaped_character() {
    if (rest_.empty()) return refuse("a backslash at the end");
    const char kind = rest_[0];
    constexpr std::string_view kNames = "tnvfrae";
    constexpr std::string_view kValues = "\t\n\v\f\r\a\x1B";
    if (const size_t i = kNames.find(kind); i != kNames.npos) {
      rest_.remove_prefix(1);
      return kValues[i];
    }
    if (kind == 'x' || kind == 'u') return hexadecimal(kind);
    const bool plain = static_cast<unsigned char>(kind) < 0x80 && !std::isalnum(static_cast<unsigned char>(kind));
    if (!plain) return refuse(fmt::format("'\\{}'", rest_.substr(0, next_utf8(rest_).length)));
    rest_.remove_prefix(1);
    return kind;
  }

  // \xHH, \x{H...}, \uHHHH
  Result<char32_t> hexadecimal(char kind) {
    rest_.remove_prefix(1);
    const bool braced = kind == 'x' && take("{");
    const size_t most = braced ? 8 : kind == 'u' ? 4 : 2;
    uint64_t code = 0;
    size_t digits = 0;
    for (; digits < most && !rest_.empty() && std::isxdigit(static_cast<unsigned char>(rest_[0])); ++digits, rest_.remove_prefix(1)) {
      const auto digit = static_cast<unsigned char>(rest_[0]);
      code = code * 16 + (std::isdigit(digit) ? digit - '0' : std::tolower(digit) - 'a' + 10);
    }
    if (digits == 0 || (!braced && digits < most) || (braced && !take("}"))) return refuse("an incomplete character number");
    // \x80 and up would be a byte, not a character, in Oniguruma.
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || (!braced && kind == 'x' && code >= 0x80)) {
      return refuse(fmt::format("character number {:X}", code));
    }
    return static_cast<char32_t>(code);
  }

  Status escape_outside() {
    take("\\");
    if (take("s")) {
      out_ += '[' + ranges_text(white_space()) + ']';
    } else if (take("S")) {
      out_ += "[^" + ranges_text(white_space()) + ']';
    } else if (take("p")) {
      TEAPOT_TRY(const std::string items, property());
      out_ += '[' + items + ']';
    } else if (take("P")) {
      TEAPOT_TRY(const std::string items, property());
      out_ += "[^" + items + ']';
    } else {
      TEAPOT_TRY(const char32_t code, escaped_character());
      out_ += quoted(code);
    }
    return {};
  }

  Status character_class() {
    take("[");
    out_ += take("^") ? "[^" : "[";
    if (rest_.starts_with(']')) return refuse("an empty class");
    while (!take("]")) {
      if (rest_.empty()) return refuse("a class without an end");
      TEAPOT_CHECK(class_item());
    }
    out_ += ']';
    return {};
  }

  // A character, a range or a class within a class.
  Status class_item() {
    if (rest_.starts_with('[') || rest_.starts_with("&&")) return refuse("a class within a class or an intersection");
    std::optional<std::string> set;
    if (take("\\s"))
      set = ranges_text(white_space());
    else if (take("\\S"))
      set = not_white_space();
    else if (take("\\p")) {
      TEAPOT_TRY(set, property());
    }
    if (set) {
      if (rest_.starts_with('-') && !rest_.starts_with("-]")) return refuse("a range that begins with a class");
      out_ += *set;
      return {};
    }
    TEAPOT_TRY(const char32_t first, class_character());
    out_ += quoted(first);
    if (!rest_.starts_with('-') || rest_.starts_with("-]")) return {};
    take("-");
    if (rest_.empty()) return refuse("a class without an end");
    TEAPOT_TRY(const char32_t last, class_character());
    if (last < first) return refuse("a range that goes down");
    out_ += '-' + quoted(last);
    return {};
  }

  Result<char32_t> class_character() {
    if (rest_.starts_with('[')) return refuse("a class within a class");
    if (take("\\")) return escaped_character();
    return take_character();
  }

  std::string_view rest_;
  size_t size_;
  std::string out_;
  int groups_ = 0;
};

}  // namespace

Result<std::string> to_pcre2(std::string_view pattern) {
  if (const size_t place = find_ill_formed(pattern); place != pattern.npos) {
    return fail(ErrorKind::kInvalid, "regex, at byte {}: not UTF-8", place);
  }
  return Rewriter(pattern).run();
}

}  // namespace teapot::text
