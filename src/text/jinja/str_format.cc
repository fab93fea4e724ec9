#include "text/jinja/str_format.h"

#include <charconv>
#include <cmath>

#include "text/jinja/characters.h"
#include "text/jinja/format_number.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

// [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string_view fill = " ";
  char align = 0;
  char sign = '-';
  bool alternate = false;
  bool comma = false;
  int width = 0;
  int precision = -1;
  char type = 0;
};

int parse_number(std::string_view& text, int most) {
  int value = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    value = value * 10 + (text.front() - '0');
    if (value > most) raise_runtime("a width or precision of more than {} is not supported", most);
    text.remove_prefix(1);
  }
  return value;
}

Spec parse_spec(std::string_view text) {
  const std::string_view all = text;
  Spec spec;
  constexpr std::string_view kAligns = "<>^=";
  const auto skip = [&](char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  const size_t first = text.empty() ? 0 : character_bytes(text);
  if (text.size() > first && kAligns.find(text[first]) != kAligns.npos) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    text.remove_prefix(first + 1);
  } else if (!text.empty() && kAligns.find(text.front()) != kAligns.npos) {
    spec.align = text.front();
    text.remove_prefix(1);
  }
  for (const char sign : {'+', '-', ' '}) {
    if (skip(sign)) {
      spec.sign = sign;
      break;
    }
  }
  spec.alternate = skip('#');
  if (skip('0') && spec.align == 0) {
    spec.fill = "0";
    spec.align = '=';
  }
  spec.width = parse_number(text, kMaxFormatWidth);
  spec.comma = skip(',');
  if (skip('.')) {
    if (text.empty() || text.front() < '0' || text.front() > '9') raise_runtime("Format specifier missing precision");
    spec.precision = parse_number(text, kMaxFormatDigits);
  }
  if (!text.empty()) {
    spec.type = text.front();
    text.remove_prefix(1);
  }
  if (!text.empty()) raise_runtime("Invalid format specifier '{}'", all);
  return spec;
}

void append_aligned(std::string& out, const Spec& spec, char default_align, std::string_view prefix, std::string_view body) {
  const char align = spec.align != 0 ? spec.align : default_align;
  const size_t length = count_characters(prefix) + count_characters(body);
  const size_t padding = static_cast<size_t>(spec.width) > length ? static_cast<size_t>(spec.width) - length : 0;
  const size_t before = align == '<' ? 0 : align == '^' ? padding / 2 : padding;
  const auto pad = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) out += spec.fill;
  };
  if (align != '=') pad(before);
  out += prefix;
  if (align == '=') pad(before);
  out += body;
  pad(padding - before);
}

void insert_commas(std::string& digits) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (size_t at = whole; at > 3; at -= 3) digits.insert(at - 3, 1, ',');
}

void append_number(std::string& out, Spec spec, const Value& value) {
  std::string prefix;
  std::string digits;
  const bool negative = value.is(Type::kFloat) ? std::signbit(value.as_real()) && !std::isnan(value.as_real()) : value.as_integer() < 0;
  if (negative) {
    prefix = "-";
  } else if (spec.sign != '-') {
    prefix = spec.sign;
  }
  constexpr std::string_view kRealTypes = "eEfFgG%";
  if (value.is_integral() && (spec.type == 0 || std::string_view("dxXob").find(spec.type) != std::string_view::npos)) {
    if (spec.precision >= 0) raise_runtime("Precision not allowed in integer format specifier");
    const char type = spec.type == 0 ? 'd' : spec.type;
    if (spec.alternate && type != 'd') prefix += {'0', type};
    if (spec.comma && type != 'd') raise_runtime("Cannot specify ',' with '{}'.", type);
    digits = integer_digits(value.as_integer(), type == 'd' ? 10 : type == 'o' ? 8 : type == 'b' ? 2 : 16, type == 'X');
  } else if (spec.type != 0 && kRealTypes.find(spec.type) != kRealTypes.npos) {
    const bool percent = spec.type == '%';
    digits = real_digits(to_real(value) * (percent ? 100 : 1), percent ? 'f' : spec.type, spec.precision < 0 ? 6 : spec.precision,
                         spec.alternate);
    if (percent) digits += '%';
  } else if (spec.type == 0 && spec.precision < 0 && !spec.alternate) {
    digits = repr_real(std::fabs(value.as_real()));
  } else {
    raise_runtime("format code '{}' for a '{}' is not supported", spec.type, type_name(value));
  }
  if (spec.comma) {
    // Zeros that fill up would be grouped too.
    if (spec.fill == "0" && spec.align == '=') raise_runtime("',' together with '0' is not supported");
    insert_commas(digits);
  }
  append_aligned(out, spec, '>', prefix, digits);
}

class StrFormatter {
 public:
  StrFormatter(Heap& heap, std::string_view format, const Arguments& arguments) : heap_(heap), rest_(format), arguments_(arguments) {}

  std::string run() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      const bool doubled = rest_.size() > 1 && rest_[1] == c;
      if (c == '{' && !doubled) {
        append_field();
      } else if (c == '}' && !doubled) {
        raise_runtime("Single '}}' encountered in format string");
      } else {
        out_ += c;
        rest_.remove_prefix(c == '{' || c == '}' ? 2 : 1);
      }
      heap_.expect_room(out_.size());
    }
    return std::move(out_);
  }

 private:
  const Value& argument(std::string_view name) {
    const bool numbered = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
    if (name.empty() || numbered) {
      (numbered ? numbered_ : automatic_) = true;
      if (numbered_ && automatic_) raise_runtime("cannot switch between manual field specification and automatic field numbering");
      size_t index = next_;
      if (numbered) {
        std::from_chars(name.data(), name.data() + name.size(), index);
      } else {
        ++next_;
      }
      if (index >= arguments_.positional.size())
        raise_runtime("Replacement index {} out of range for positional args tuple",
                      name.empty() ? std::to_string(index) : std::string(name));
      return arguments_.positional[index];
    }
    for (const auto& keyword : arguments_.keywords) {
      if (keyword.name == name) return keyword.value;
    }
    if (name.find_first_of(".[") != name.npos) raise_runtime("attributes and items in format fields are not supported: '{}'", name);
    raise_runtime("KeyError: '{}'", name);
  }

  void append_field() {
    const size_t close = rest_.find('}');
    if (close == rest_.npos) raise_runtime("expected '}}' before end of string");
    std::string_view field = rest_.substr(1, close - 1);
    if (field.find('{') != field.npos) raise_runtime("nested format fields are not supported");
    rest_.remove_prefix(close + 1);
    const size_t name_end = std::min(field.find_first_of(":!"), field.size());
    const Value& value = argument(field.substr(0, name_end));
    field.remove_prefix(name_end);
    char conversion = 0;
    if (field.starts_with('!')) {
      if (field.size() < 2 || (field.size() > 2 && field[2] != ':')) raise_runtime("expected ':' after conversion specifier");
      conversion = field[1];
      field.remove_prefix(2);
    }
    if (!field.empty()) field.remove_prefix(1);
    append_value(value, conversion, field);
  }

  void append_value(const Value& value, char conversion, std::string_view spec_text) {
    std::string text;
    if (conversion == 'r') {
      append_repr(heap_, text, value);
    } else if (conversion == 's' || (conversion == 0 && (spec_text.empty() || value.is_text()))) {
      append_str(heap_, text, value);
    } else if (conversion != 0) {
      raise_runtime("conversion '!{}' is not supported", conversion);
    } else if (value.is_number() && !value.is(Type::kBool)) {
      return append_number(out_, parse_spec(spec_text), value);
    } else {
      raise_runtime("unsupported format string passed to {}.__format__", type_name(value));
    }
    const Spec spec = parse_spec(spec_text);
    if ((spec.type != 0 && spec.type != 's') || spec.comma || spec.alternate || spec.sign != '-' || spec.align == '=') {
      raise_runtime("Invalid format specifier '{}' for a text", spec_text);
    }
    if (spec.precision >= 0) text.resize(byte_offset(text, static_cast<size_t>(spec.precision)));
    append_aligned(out_, spec, '<', "", text);
  }

  Heap& heap_;
  std::string_view rest_;
  const Arguments& arguments_;
  std::string out_;
  size_t next_ = 0;
  bool numbered_ = false;
  bool automatic_ = false;
};

}  // namespace

Value str_format(Heap& heap, std::string_view format, const Arguments& arguments) {
  heap.step_over(format);
  return new_text(heap, StrFormatter(heap, format, arguments).run());
}

}  // namespace teapot::text::jinja
