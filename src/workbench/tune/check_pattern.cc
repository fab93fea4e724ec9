#define PCRE2_CODE_UNIT_WIDTH 8
#include "workbench/tune/check_pattern.h"

#include <pcre2.h>
#include <algorithm>
#include <array>
#include <memory>

#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kValue = "{value}", kText = "{=";
constexpr std::string_view kAnything = "(?<found>[^\\s,;:()'\"<>]+)";
// A line is one of somebody else's program: a search that goes on for too long finds nothing.
constexpr uint32_t kMatchLimit = 200'000;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

// The first place in the expression that can differ: where it begins and ends, and the text that it names.
struct Place {
  size_t begin = std::string::npos, end = 0;
  bool value = false;
  std::string_view text = {};
};
Place place_in(std::string_view expression, size_t from = 0) {
  Place place;
  const size_t value = expression.find(kValue, from), text = expression.find(kText, from);
  if (value != expression.npos && value < text) return {.begin = value, .end = value + kValue.size(), .value = true};
  const size_t close = text == expression.npos ? text : expression.find('}', text);
  if (close == expression.npos) return place;
  return {.begin = text, .end = close + 1, .text = expression.substr(text + kText.size(), close - text - kText.size())};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || (c & 0x80) != 0;
    if (!plain) out += '\\';
    out += c;
    if (c == ',') out += " *";
  }
  return out;
}

std::string value_expression(std::string_view value) {
  if (const auto yes = yes_or_no(value)) return *yes ? "(?i:1|true|on|yes|enabled)" : "(?i:0|false|off|no|disabled)";
  const size_t dot = value.find('.');
  const bool decimal = dot != value.npos && dot + 1 < value.size() && value.find_first_not_of("0123456789", dot + 1) == value.npos &&
                       value.substr(0, dot).find_first_not_of("-0123456789") == value.npos;
  if (!decimal) return escaped(value);
  const size_t last = value.find_last_not_of('0');
  if (last == dot) return escaped(value.substr(0, dot)) + "(?:\\.0*)?";
  return escaped(value.substr(0, last + 1)) + "0*";
}

std::string with(std::string_view expression, const Place& place, std::string_view in_its_place) {
  if (place.begin == std::string::npos) return std::string(expression);
  return std::string(expression.substr(0, place.begin)).append(in_its_place).append(expression.substr(place.end));
}

class Expression {
 public:
  static Result<Expression> compile(const std::string& text, bool caseless) {
    int code = 0;
    PCRE2_SIZE at = 0;
    Expression made;
    const uint32_t options = PCRE2_NEVER_BACKSLASH_C | (caseless ? PCRE2_CASELESS : 0);
    made.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options, &code, &at, nullptr));
    if (made.code_ == nullptr) {
      std::array<PCRE2_UCHAR, 256> message{};
      pcre2_get_error_message(code, message.data(), message.size());
      return fail(ErrorKind::kInvalid, "/{}/: {} at character {}", text, reinterpret_cast<const char*>(message.data()), at);
    }
    made.data_.reset(pcre2_match_data_create_from_pattern(made.code_.get(), nullptr));
    made.context_.reset(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(made.context_.get(), kMatchLimit);
    return made;
  }

  bool finds(std::string_view line) {
    line_ = line;
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(), 0, 0, data_.get(), context_.get()) > 0;
  }
  // After a match: all of it, or what stands in the place that can differ.
  std::string whole() const { return part(0); }
  std::string found() const {
    const int number = pcre2_substring_number_from_name(code_.get(), reinterpret_cast<PCRE2_SPTR>("found"));
    return number > 0 ? part(static_cast<size_t>(number)) : "";
  }

 private:
  std::string part(size_t number) const {
    const PCRE2_SIZE* at = pcre2_get_ovector_pointer(data_.get());
    if (at[2 * number] == PCRE2_UNSET) return "";
    return std::string(line_.substr(at[2 * number], at[2 * number + 1] - at[2 * number]));
  }

  std::string_view line_;
  std::unique_ptr<pcre2_code, Free> code_;
  std::unique_ptr<pcre2_match_data, Free> data_;
  std::unique_ptr<pcre2_match_context, Free> context_;
};

// Of the first line that matches; empty: none does.
template <class F>
std::string first_match(Expression& expression, std::string_view text, const F& taken) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (expression.finds(text.substr(0, end))) return taken(expression);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

}  // namespace

bool CheckPattern::compares() const { return place_in(expression).begin != std::string::npos; }
bool CheckPattern::takes_the_value() const { return place_in(expression).value; }

Status check(const CheckPattern& pattern) {
  const Place place = place_in(pattern.expression);
  if (place.begin != std::string::npos && place_in(pattern.expression, place.end).begin != std::string::npos)
    return fail(ErrorKind::kInvalid, "/{}/: expected {{value}} or {{=TEXT}} at most once", pattern.expression);
  TEAPOT_TRY(const Expression expression, Expression::compile(with(pattern.expression, place, kAnything), pattern.caseless));
  return {};
}

PatternMatch look_for(const CheckPattern& pattern, std::string_view value, std::string_view text) {
  const Place place = place_in(pattern.expression);
  const std::string wanted = place.value ? value_expression(value) : escaped(place.text);
  auto expected = Expression::compile(with(pattern.expression, place, wanted), pattern.caseless);
  if (!expected) return {};
  if (std::string match = first_match(*expected, text, [](const Expression& e) { return e.whole(); }); !match.empty())
    return {PatternMatch::Kind::kAsExpected, std::move(match)};
  if (place.begin == std::string::npos) return {};
  auto any = Expression::compile(with(pattern.expression, place, kAnything), pattern.caseless);
  if (!any) return {};
  std::string other = first_match(*any, text, [](const Expression& e) { return e.found(); });
  if (other.empty()) return {};
  return {PatternMatch::Kind::kOther, std::move(other)};
}

}  // namespace teapot::workbench
