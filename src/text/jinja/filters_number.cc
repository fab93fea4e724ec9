// Filters about numbers and about values as a whole.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/format_number.h"
#include "text/jinja/operators.h"
#include "text/jinja/parse_number.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

Value default_value(Heap& /*heap*/, const Value& input, const Arguments& arguments) {
  const auto bound = bind("default", arguments, "default_value", "boolean");
  if (!input.is_undefined() && (!bound.flag(1) || truth(input))) return input;
  return bound[0] == nullptr ? Value::text("") : *bound[0];
}

Value attr(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("attr", arguments, "name");
  const std::string_view name = require_text(bound.required(0), "attribute name");
  if (input.is_undefined()) raise_undefined(input);
  const auto attribute = own_attribute(heap, input, name);
  return attribute ? *attribute : undefined_attribute(heap, input, bound.required(0));
}

Value absolute(Heap& /*heap*/, const Value& input, const Arguments& arguments) {
  expect_no_arguments("abs", arguments);
  if (input.is(Type::kFloat)) return Value::real(std::fabs(input.as_real()));
  if (!input.is_integral()) raise_runtime("bad operand type for abs(): '{}'", type_name(input));
  return input.as_integer() < 0 ? unary(Operator::kNegate, input) : Value::integer(input.as_integer());
}

std::optional<int64_t> truncated(double value) {
  if (std::isnan(value)) return std::nullopt;
  if (!(std::fabs(value) < 0x1p63)) raise_runtime("integer overflow: {} does not fit into 64 bits", repr_real(value));
  return static_cast<int64_t>(value);
}

Value to_integer(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("int", arguments, "default", "base");
  const Value fallback = bound[0] == nullptr ? Value::integer(0) : *bound[0];
  std::optional<int64_t> integer;
  if (input.is_undefined()) raise_undefined(input);
  if (input.is_text()) {
    heap.step_over(input.as_text());
    integer = parse_python_integer(input.as_text(), bound[1] == nullptr ? 10 : require_integer(*bound[1], "base"));
    // "42.23" is 42; a text that is infinite is not.
    if (!integer) {
      const auto real = parse_python_real(input.as_text());
      if (real && std::isfinite(*real)) integer = truncated(*real);
    }
  } else if (input.is_integral()) {
    integer = input.as_integer();
  } else if (input.is(Type::kFloat)) {
    integer = truncated(input.as_real());
  }
  return integer ? Value::integer(*integer) : fallback;
}

Value to_float(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("float", arguments, "default");
  if (input.is_undefined()) raise_undefined(input);
  std::optional<double> real;
  if (input.is_number()) real = to_real(input);
  if (input.is_text()) {
    heap.step_over(input.as_text());
    real = parse_python_real(input.as_text());
  }
  if (real) return Value::real(*real);
  return bound[0] == nullptr ? Value::real(0) : *bound[0];
}

// To the nearest multiple of 10^-places, halves to the even one.
int64_t round_integer(int64_t value, int64_t places) {
  if (places >= 0) return value;
  if (places < -18) return 0;
  int64_t unit = 1;
  for (int64_t i = 0; i < -places; ++i) unit *= 10;
  const int64_t rest = value % unit;
  int64_t quotient = value / unit;
  const int64_t away = value < 0 ? -1 : 1;
  const int64_t doubled = std::abs(rest) - (unit - std::abs(rest));
  if (doubled > 0 || (doubled == 0 && quotient % 2 != 0)) quotient += away;
  int64_t result = 0;
  if (__builtin_mul_overflow(quotient, unit, &result)) raise_runtime("integer overflow: the result does not fit into 64 bits");
  return result;
}

double round_real(double value, int64_t places) {
  if (!std::isfinite(value) || places > 323) return value;
  if (places < 0) raise_runtime("rounding a float to a negative precision is not supported");
  char buffer[800];  // 309 digits before the point, 323 behind it
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer) - 1, value, std::chars_format::fixed, static_cast<int>(places));
  *end = '\0';
  return std::strtod(buffer, nullptr);
}

Value round(Heap& /*heap*/, const Value& input, const Arguments& arguments) {
  const auto bound = bind("round", arguments, "precision", "method");
  const int64_t places = bound[0] == nullptr ? 0 : require_integer(*bound[0], "precision");
  const std::string_view method = bound[1] == nullptr ? "common" : require_text(*bound[1], "method");
  if (method != "common" && method != "ceil" && method != "floor") raise_runtime("method must be common, ceil or floor");
  if (input.is_undefined()) raise_undefined(input);
  if (!input.is_number()) raise_runtime("type {} doesn't define __round__ method", type_name(input));
  if (method == "common") {
    return input.is_integral() ? Value::integer(round_integer(input.as_integer(), places))
                               : Value::real(round_real(input.as_real(), places));
  }
  if (places < -15 || places > 15) raise_runtime("rounding with {} to a precision of {} is not supported", method, places);
  const double unit = std::pow(10.0, static_cast<double>(places));
  const double scaled = to_real(input) * unit;
  if (!(std::fabs(scaled) < 0x1p53)) raise_runtime("rounding {} with {} is not supported", repr_real(to_real(input)), method);
  // Python's ceil and floor give integers, which know no negative zero.
  return Value::real(((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0) / unit);
}

Value file_size(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("filesizeformat", arguments, "binary");
  if (input.is_undefined()) raise_undefined(input);
  std::optional<double> bytes;
  if (input.is_number()) bytes = to_real(input);
  if (input.is_text()) bytes = parse_python_real(input.as_text());
  if (!bytes || !std::isfinite(*bytes)) raise_runtime("filesizeformat needs a number");
  const bool binary = bound.flag(0);
  const double base = binary ? 1024 : 1000;
  if (*bytes == 1) return Value::text("1 Byte");
  if (*bytes < base) return new_text(heap, fmt::format("{} Bytes", truncated(*bytes).value_or(0)));
  constexpr std::string_view kLetters = "kMGTPEZY";
  double unit = base * base;
  size_t letter = 0;
  while (!(*bytes < unit) && letter + 1 < kLetters.size()) {
    unit *= base;
    ++letter;
  }
  const char symbol = binary && kLetters[letter] == 'k' ? 'K' : kLetters[letter];
  return new_text(heap, fmt::format("{} {}{}", real_digits(base * *bytes / unit, 'f', 1, false), symbol, binary ? "iB" : "B"));
}

}  // namespace

std::span<const FilterEntry> number_filters() {
  static constexpr FilterEntry kFilters[] = {
      {"default", default_value}, {"d", default_value}, {"attr", attr},   {"abs", absolute},
      {"int", to_integer},        {"float", to_float},  {"round", round}, {"filesizeformat", file_size},
  };
  return kFilters;
}

}  // namespace teapot::text::jinja
