#include "text/jinja/lexer.h"

#include <array>

#include "text/jinja/characters.h"
#include "text/jinja/failure.h"

namespace teapot::text::jinja {
namespace {

constexpr size_t kMaxSourceBytes = size_t{16} << 20;

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }
bool is_any_digit(char c) { return is_decimal_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) lex_data();
    add(TokenType::kEnd, at_, 0);
    return std::move(tokens_);
  }

 private:
  struct Opening {
    size_t at;
    char kind;  // '{', '%', '#', or 'r' for a raw block
    char sign;  // '-', '+' or 0
    size_t end;
  };

  void add(TokenType type, size_t offset, size_t length) {
    tokens_.push_back({type, static_cast<uint32_t>(offset), source_.substr(offset, length)});
  }

  bool next_is(std::string_view what) const { return source_.substr(at_).starts_with(what); }
  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  size_t skip_space(size_t from) const { return from + leading_space(source_.substr(from)); }

  // "{%- raw %}" as a whole; 0 if there is none at this place.
  size_t raw_tag_end(size_t after_sign, std::string_view name) const {
    size_t at = skip_space(after_sign);
    if (!source_.substr(at).starts_with(name)) return 0;
    return skip_space(at + name.size());
  }

  bool find_opening(Opening& found) const {
    for (size_t at = source_.find('{', at_); at != source_.npos; at = source_.find('{', at + 1)) {
      if (at + 1 >= source_.size()) return false;
      const char kind = source_[at + 1];
      if (kind != '{' && kind != '%' && kind != '#') continue;
      size_t end = at + 2;
      char sign = 0;
      if (end < source_.size() && (source_[end] == '-' || source_[end] == '+')) sign = source_[end++];
      found = {at, kind, sign, end};
      if (kind != '%') return true;
      if (const size_t close = raw_tag_end(end, "raw"); close != 0) {
        if (source_.substr(close).starts_with("-%}")) {
          found = {at, 'r', sign, skip_space(close + 3)};
        } else if (source_.substr(close).starts_with("%}")) {
          found = {at, 'r', sign, close + 2};
        }
      }
      return true;
    }
    return false;
  }

  // Text before a tag, with what the tag's sign and lstrip_blocks take from its end.
  void add_data(size_t begin, size_t end, char sign, bool is_variable) {
    std::string_view text = source_.substr(begin, end - begin);
    if (sign == '-') {
      text.remove_suffix(trailing_space(text));
    } else if (sign != '+' && !is_variable) {
      const size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
      if ((line > 0 || line_starting_) && leading_space(text.substr(line)) == text.size() - line) text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenType::kData, begin, text.size());
  }

  void passed(size_t end) {
    line_starting_ = end > 0 && source_[end - 1] == '\n';
    at_ = end;
  }

  void lex_data() {
    Opening opening{};
    if (!find_opening(opening)) {
      add(TokenType::kData, at_, source_.size() - at_);
      at_ = source_.size();
      return;
    }
    add_data(at_, opening.at, opening.sign, opening.kind == '{');
    passed(opening.end);
    switch (opening.kind) {
      case '#':
        return lex_comment(opening.at);
      case 'r':
        return lex_raw(opening.at);
      case '{':
        add(TokenType::kVariableBegin, opening.at, 2);
        return lex_tag(true);
      default:
        add(TokenType::kBlockBegin, opening.at, 2);
        return lex_tag(false);
    }
  }

  void lex_comment(size_t begin) {
    const size_t close = source_.find("#}", at_);
    if (close == source_.npos) raise_syntax_at(static_cast<uint32_t>(begin), "Missing end of comment tag");
    size_t end = close + 2;
    const char sign = close > at_ ? source_[close - 1] : '\0';
    if (sign == '-') {
      end = skip_space(end);
    } else if (sign != '+' && end < source_.size() && source_[end] == '\n') {
      ++end;
    }
    passed(end);
  }

  void lex_raw(size_t begin) {
    for (size_t at = source_.find("{%", at_); at != source_.npos; at = source_.find("{%", at + 1)) {
      size_t end = at + 2;
      char sign = 0;
      if (end < source_.size() && (source_[end] == '-' || source_[end] == '+')) sign = source_[end++];
      size_t close = raw_tag_end(end, "endraw");
      if (close == 0) continue;
      const std::string_view rest = source_.substr(close);
      if (rest.starts_with("-%}")) {
        close = skip_space(close + 3);
      } else if (rest.starts_with("+%}")) {
        close += 3;
      } else if (rest.starts_with("%}")) {
        close += rest.substr(2).starts_with("\n") ? 3 : 2;
      } else {
        continue;
      }
      add_data(at_, at, sign, false);
      passed(close);
      return;
    }
    raise_syntax_at(static_cast<uint32_t>(begin), "Missing end of raw directive");
  }

  bool lex_tag_end(bool variable) {
    const TokenType type = variable ? TokenType::kVariableEnd : TokenType::kBlockEnd;
    const std::string_view close = variable ? "}}" : "%}";
    if (next_is(close)) {
      add(type, at_, 2);
      const bool eats_line_end = !variable && peek(2) == '\n';
      passed(at_ + (eats_line_end ? 3 : 2));
      return true;
    }
    if (peek() == '-' && source_.substr(at_ + 1).starts_with(close)) {
      add(type, at_, 3);
      passed(skip_space(at_ + 3));
      return true;
    }
    if (!variable && peek() == '+' && source_.substr(at_ + 1).starts_with(close)) {
      add(type, at_, 3);
      passed(at_ + 3);
      return true;
    }
    return false;
  }

  void lex_tag(bool variable) {
    std::vector<char> open;  // closing brackets that are still to come
    while (at_ < source_.size()) {
      if (open.empty() && lex_tag_end(variable)) return;
      if (const size_t space = leading_space(source_.substr(at_)); space > 0) {
        passed(at_ + space);
      } else if (const size_t real = real_length(); real > 0) {
        take(TokenType::kReal, real);
      } else if (const size_t integer = integer_length(); integer > 0) {
        take(TokenType::kInteger, integer);
      } else if (const size_t name = name_length(); name > 0) {
        take(TokenType::kName, name);
      } else if (const size_t text = text_length(); text > 0) {
        take(TokenType::kText, text);
      } else if (const size_t op = operator_length(); op > 0) {
        balance(open);
        take(TokenType::kOperator, op);
      } else {
        raise_syntax_at(static_cast<uint32_t>(at_), "unexpected char '{}' at {}", source_.substr(at_, character_bytes(source_.substr(at_))),
                        at_);
      }
    }
  }

  void take(TokenType type, size_t length) {
    add(type, at_, length);
    passed(at_ + length);
  }

  void balance(std::vector<char>& open) {
    const char c = peek();
    if (c == '(') open.push_back(')');
    if (c == '[') open.push_back(']');
    if (c == '{') open.push_back('}');
    if (c != ')' && c != ']' && c != '}') return;
    if (open.empty()) raise_syntax_at(static_cast<uint32_t>(at_), "unexpected '{}'", c);
    if (open.back() != c) raise_syntax_at(static_cast<uint32_t>(at_), "unexpected '{}', expected '{}'", c, open.back());
    open.pop_back();
  }

  // Digits with single underscores between them, from `from` on.
  template <class IsDigit>
  size_t digits(size_t from, IsDigit is_digit_of_base) const {
    size_t at = from;
    while (at < source_.size() && (is_digit_of_base(source_[at]) ||
                                   (source_[at] == '_' && at > from && at + 1 < source_.size() && is_digit_of_base(source_[at + 1]))))
      ++at;
    return at - from;
  }

  size_t real_length() const {
    if (!is_decimal_digit(peek()) || (at_ > 0 && source_[at_ - 1] == '.')) return 0;
    size_t at = at_ + digits(at_, is_decimal_digit);
    bool real = false;
    if (at < source_.size() && source_[at] == '.') {
      if (const size_t fraction = digits(at + 1, is_decimal_digit); fraction > 0) {
        at += 1 + fraction;
        real = true;
      }
    }
    if (at < source_.size() && (source_[at] == 'e' || source_[at] == 'E')) {
      size_t exponent = at + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) ++exponent;
      if (const size_t length = digits(exponent, is_decimal_digit); length > 0) {
        at = exponent + length;
        real = true;
      }
    }
    return real ? at - at_ : 0;
  }

  size_t integer_length() const {
    if (!is_decimal_digit(peek())) return 0;
    if (peek() == '0') {
      // A prefix may be followed by an underscore: 0x_ff.
      const char base = static_cast<char>(peek(1) | 0x20);
      const size_t from = at_ + 2 + (peek(2) == '_' ? 1 : 0);
      size_t length = 0;
      if (base == 'x') length = digits(from, is_any_digit);
      if (base == 'o') length = digits(from, [](char c) { return c >= '0' && c <= '7'; });
      if (base == 'b') length = digits(from, [](char c) { return c == '0' || c == '1'; });
      if (length > 0) return from + length - at_;
      return digits(at_, [](char c) { return c == '0'; });
    }
    return digits(at_, is_decimal_digit);
  }

  size_t name_length() const {
    size_t at = at_;
    while (at < source_.size()) {
      const Utf8Step step = next_utf8(source_.substr(at));
      if (!is_word(step.code)) break;
      // Digits of other scripts and fractions are \w, but no identifiers; ASCII digits were taken as numbers before.
      if (step.code >= 0x80 && !is_letter(step.code)) raise_syntax_at(static_cast<uint32_t>(at), "Invalid character in identifier");
      at += step.length;
    }
    return at - at_;
  }

  size_t text_length() const {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return 0;
    for (size_t at = at_ + 1; at < source_.size(); ++at) {
      if (source_[at] == '\\') {
        ++at;
      } else if (source_[at] == quote) {
        return at + 1 - at_;
      }
    }
    return 0;
  }

  size_t operator_length() const {
    constexpr std::array<std::string_view, 6> kPairs = {"//", "**", "==", "!=", ">=", "<="};
    for (const std::string_view pair : kPairs) {
      if (next_is(pair)) return 2;
    }
    return std::string_view("+-/*%~[](){}><=.:|,;").find(peek()) != std::string_view::npos && peek() != '\0' ? 1 : 0;
  }

  std::string_view source_;
  size_t at_ = 0;
  bool line_starting_ = true;  // nothing but a line break, or the start, stands before at_
  std::vector<Token> tokens_;
};

}  // namespace

std::string normalize_source(std::string_view source) {
  if (source.size() > kMaxSourceBytes) raise_syntax_at(0, "the template has {} bytes, more than {}", source.size(), kMaxSourceBytes);
  if (const size_t at = find_ill_formed(source); at != source.npos) raise_syntax_at(0, "the template is not UTF-8 at byte {}", at);
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

std::string describe(const Token& token) {
  switch (token.type) {
    case TokenType::kData:
      return "template data";
    case TokenType::kVariableBegin:
      return "begin of print statement";
    case TokenType::kVariableEnd:
      return "end of print statement";
    case TokenType::kBlockBegin:
      return "begin of statement block";
    case TokenType::kBlockEnd:
      return "end of statement block";
    case TokenType::kEnd:
      return "end of template";
    default:
      return std::string(token.text);
  }
}

}  // namespace teapot::text::jinja
