#include "text/jinja/printf_format.h"

#include <cmath>

#include "text/jinja/characters.h"
#include "text/jinja/format_number.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

struct Directive {
  bool left = false, plus = false, space = false, zero = false, alternate = false;
  int width = 0;
  int precision = -1;
  char type = 0;
};

class PrintfFormatter {
 public:
  PrintfFormatter(Heap& heap, std::string_view format, const Value& arguments) : heap_(heap), rest_(format), arguments_(arguments) {
    if (arguments.is(Type::kTuple)) positional_ = arguments.as_sequence().items;
  }

  std::string run() {
    while (!rest_.empty()) {
      const size_t percent = std::min(rest_.find('%'), rest_.size());
      out_ += rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (!rest_.empty()) convert();
      heap_.expect_room(out_.size());
    }
    const bool is_mapping = arguments_.is(Type::kDict) || arguments_.is(Type::kList);  // lists have __getitem__ too: not "all used"
    const size_t given = arguments_.is(Type::kTuple) ? positional_.size() : is_mapping ? 0 : 1;
    if (used_ < given) raise_runtime("not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  char take() {
    if (rest_.empty()) raise_runtime("incomplete format");
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  const Value& next_argument() {
    const size_t index = used_++;
    if (arguments_.is(Type::kTuple)) {
      if (index < positional_.size()) return positional_[index];
    } else if (index == 0) {
      return arguments_;
    }
    raise_runtime("not enough arguments for format string");
  }

  int number(int most, std::string_view what) {
    int value = 0;
    if (!rest_.empty() && rest_.front() == '*') {
      take();
      const int64_t given = require_integer(next_argument(), what);
      if (given < 0 || given > most) raise_runtime("{} {} is not supported (0 to {})", what, given, most);
      return static_cast<int>(given);
    }
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value = value * 10 + (take() - '0');
      if (value > most) raise_runtime("{} of more than {} is not supported", what, most);
    }
    return value;
  }

  const Value& named_argument() {
    if (!arguments_.is(Type::kDict)) raise_runtime("format requires a mapping");
    const size_t close = rest_.find(')');
    if (close == rest_.npos) raise_runtime("incomplete format key");
    const std::string_view name = rest_.substr(0, close);
    if (name.find('(') != name.npos) raise_runtime("nested parentheses in a format key are not supported");
    rest_.remove_prefix(close + 1);
    const Value* value = find(heap_, arguments_.as_dict(), name);
    if (value == nullptr) raise_runtime("KeyError: '{}'", name);
    return *value;
  }

  void convert() {
    take();
    Directive d;
    const Value* named = nullptr;
    if (!rest_.empty() && rest_.front() == '(') {
      take();
      named = &named_argument();
    }
    for (bool flag = true; flag && !rest_.empty();) {
      switch (rest_.front()) {
        case '-':
          d.left = true;
          break;
        case '+':
          d.plus = true;
          break;
        case ' ':
          d.space = true;
          break;
        case '0':
          d.zero = true;
          break;
        case '#':
          d.alternate = true;
          break;
        default:
          flag = false;
          break;
      }
      if (flag) take();
    }
    d.width = number(kMaxFormatWidth, "a width");
    if (!rest_.empty() && rest_.front() == '.') {
      take();
      d.precision = number(kMaxFormatDigits, "a precision");
    }
    while (!rest_.empty() && (rest_.front() == 'l' || rest_.front() == 'h' || rest_.front() == 'L')) take();
    d.type = take();
    if (d.type == '%') {
      out_ += '%';
      return;
    }
    append(d, named != nullptr ? *named : next_argument());
  }

  void append(const Directive& d, const Value& value) {
    switch (d.type) {
      case 's':
      case 'r':
        return append_text(d, value);
      case 'c':
        return append_character(d, value);
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return append_integer(d, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return append_real(d, value);
      default:
        raise_runtime("unsupported format character '{}'", d.type);
    }
  }

  void append_padded(const Directive& d, std::string_view sign_and_prefix, std::string_view body, bool zero) {
    const size_t length = count_characters(sign_and_prefix) + count_characters(body);
    const size_t padding = static_cast<size_t>(d.width) > length ? static_cast<size_t>(d.width) - length : 0;
    if (!d.left && !zero) out_.append(padding, ' ');
    out_ += sign_and_prefix;
    if (!d.left && zero) out_.append(padding, '0');
    out_ += body;
    if (d.left) out_.append(padding, ' ');
  }

  void append_text(const Directive& d, const Value& value) {
    std::string text;
    if (d.type == 's') {
      append_str(heap_, text, value);
    } else {
      append_repr(heap_, text, value);
    }
    if (d.precision >= 0) text.resize(byte_offset(text, static_cast<size_t>(d.precision)));
    append_padded(d, "", text, false);
  }

  void append_character(const Directive& d, const Value& value) {
    std::string text;
    if (value.is_text() && count_characters(value.as_text()) == 1) {
      text = value.as_text();
    } else {
      const int64_t code = require_integer(value, "%c");
      if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) raise_runtime("%c requires a character, not {}", code);
      append_utf8(text, static_cast<char32_t>(code));
    }
    append_padded(d, "", text, false);
  }

  static std::string_view sign(const Directive& d, bool negative) { return negative ? "-" : d.plus ? "+" : d.space ? " " : ""; }

  void append_integer(const Directive& d, const Value& value) {
    if (value.is_undefined()) raise_undefined(value);
    const bool decimal = d.type == 'd' || d.type == 'i' || d.type == 'u';
    int64_t integer = 0;
    if (decimal && value.is(Type::kFloat)) {
      if (!(std::fabs(value.as_real()) < 9.2e18)) raise_runtime("the number does not fit into 64 bits");
      integer = static_cast<int64_t>(value.as_real());
    } else if (value.is_integral()) {
      integer = value.as_integer();
    } else {
      raise_runtime("%{} format: a real number is required, not {}", d.type, type_name(value));
    }
    const int base = decimal ? 10 : d.type == 'o' ? 8 : 16;
    std::string digits = integer_digits(integer, base, d.type == 'X');
    if (d.precision > static_cast<int>(digits.size())) digits.insert(0, static_cast<size_t>(d.precision) - digits.size(), '0');
    std::string prefix(sign(d, integer < 0));
    if (d.alternate && !decimal) prefix += {'0', d.type};
    append_padded(d, prefix, digits, d.zero);
  }

  void append_real(const Directive& d, const Value& value) {
    if (value.is_undefined()) raise_undefined(value);
    if (!value.is_number()) raise_runtime("must be real number, not {}", type_name(value));
    const double real = to_real(value);
    append_padded(d, sign(d, std::signbit(real) && !std::isnan(real)),
                  real_digits(real, d.type, d.precision < 0 ? 6 : d.precision, d.alternate), d.zero);
  }

  Heap& heap_;
  std::string_view rest_;
  const Value& arguments_;
  std::span<const Value> positional_;
  size_t used_ = 0;
  std::string out_;
};

}  // namespace

Value printf_format(Heap& heap, const Value& format, const Value& arguments) {
  if (format.safe()) raise_runtime("formatting into text marked safe is not supported");
  heap.step_over(format.as_text());
  return new_text(heap, PrintfFormatter(heap, format.as_text(), arguments).run());
}

}  // namespace teapot::text::jinja
