#include "text/jinja/print.h"

#include <charconv>
#include <cmath>

#include "text/jinja/characters.h"
#include "text/jinja/loop.h"
#include "text/jinja/scope.h"

namespace teapot::text::jinja {
namespace {

class Printer {
 public:
  Printer(Heap& heap, std::string& out) : heap_(heap), out_(out) {}

  void str(const Value& value) {
    if (value.is_text()) {
      heap_.step_over(value.as_text());
      out_ += value.as_text();
    } else if (!value.is_undefined()) {
      repr(value);
    }
  }

  void repr(const Value& value) {
    heap_.step();
    heap_.expect_room(out_.size());
    switch (value.type()) {
      case Type::kUndefined:
        out_ += "Undefined";
        break;
      case Type::kNone:
        out_ += "None";
        break;
      case Type::kBool:
        out_ += value.as_integer() != 0 ? "True" : "False";
        break;
      case Type::kInt:
        out_ += std::to_string(value.as_integer());
        break;
      case Type::kFloat:
        out_ += repr_real(value.as_real());
        break;
      case Type::kText:
        heap_.step_over(value.as_text());
        if (value.safe()) out_ += "Markup(";
        out_ += repr_text(value.as_text());
        if (value.safe()) out_ += ')';
        break;
      case Type::kList:
        items("[", value.as_sequence().items, "]");
        break;
      case Type::kTuple:
        items("(", value.as_sequence().items, value.as_sequence().items.size() == 1 ? ",)" : ")");
        break;
      case Type::kDict:
        entries(value.as_dict().entries);
        break;
      case Type::kView:
        out_ += fmt::format("{}(", value.as_view().type_name);
        items("[", value.as_view().items, "])");
        break;
      case Type::kNamespace:
        name_space(value.as_namespace());
        break;
      case Type::kMacro:
        out_ += fmt::format("<Macro {}>", repr_text(value.as_macro().definition->name));
        break;
      case Type::kRange:
        range(value.as_range());
        break;
      case Type::kLoop:
        out_ += describe_loop(heap_, value.as_loop());
        break;
      default:
        raise_runtime("a '{}' object has no text: use it up with a filter such as list or join, or call it", type_name(value));
    }
  }

 private:
  void items(std::string_view open, std::span<const Value> values, std::string_view close) {
    out_ += open;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ", ";
      repr(values[i]);
    }
    out_ += close;
  }

  void entries(std::span<const Entry> entries) {
    out_ += '{';
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_ += ", ";
      repr(entries[i].key);
      out_ += ": ";
      repr(entries[i].value);
    }
    out_ += '}';
  }

  // The only thing that can hold itself.
  void name_space(const Namespace& space) {
    if (++namespaces_ > 50) raise(TemplateErrorKind::kBudget, "namespaces nest too deep to be printed");
    out_ += "<Namespace ";
    entries(space.used());
    out_ += '>';
    --namespaces_;
  }

  void range(const Range& r) {
    out_ += fmt::format("range({}, {}", r.start, r.stop);
    if (r.step != 1) out_ += fmt::format(", {}", r.step);
    out_ += ')';
  }

  Heap& heap_;
  std::string& out_;
  int namespaces_ = 0;
};

}  // namespace

std::string repr_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // d.ddde[+-]xx: the shortest digits; Python moves the point itself for exponents from -4 to 15.
  char buffer[32];
  const char* end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  std::string out;
  if (text.starts_with('-')) {
    out = "-";
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  if (exponent < -4 || exponent > 15) {
    out += digits[0];
    if (digits.size() > 1) out += '.' + digits.substr(1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto point = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= point) return out + digits + std::string(point - digits.size(), '0') + ".0";
  return out + digits.substr(0, point) + '.' + digits.substr(point);
}

std::string repr_text(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    const char c = text[0];
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= 0x20 && c < 0x7F) {
      out += c;
    } else if (const auto code = static_cast<uint32_t>(decode(text.substr(0, bytes))[0]); is_printable(code)) {
      out += text.substr(0, bytes);
    } else if (code < 0x100) {
      out += fmt::format("\\x{:02x}", code);
    } else if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += fmt::format("\\U{:08x}", code);
    }
    text.remove_prefix(bytes);
  }
  return out + quote;
}

void append_str(Heap& heap, std::string& out, const Value& value) { Printer(heap, out).str(value); }
void append_repr(Heap& heap, std::string& out, const Value& value) { Printer(heap, out).repr(value); }

Value to_text(Heap& heap, const Value& value) { return value.is_text() ? value : Value::text(to_plain_text(heap, value)); }

std::string_view to_plain_text(Heap& heap, const Value& value) {
  if (value.is_text()) return value.as_text();
  std::string text;
  append_str(heap, text, value);
  return heap.copy(std::string_view(text));
}

}  // namespace teapot::text::jinja
