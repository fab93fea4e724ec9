#include "text/jinja/operators.h"

#include <cmath>
#include <limits>

#include "text/jinja/iterate.h"
#include "text/jinja/markup.h"
#include "text/jinja/printf_format.h"

namespace teapot::text::jinja {
namespace {

std::string_view symbol_of(Operator op) {
  switch (op) {
    case Operator::kAdd:
      return "+";
    case Operator::kSubtract:
      return "-";
    case Operator::kMultiply:
      return "*";
    case Operator::kDivide:
      return "/";
    case Operator::kFloorDivide:
      return "//";
    case Operator::kModulo:
      return "%";
    case Operator::kPower:
      return "** or pow()";
    default:
      return "?";
  }
}

[[noreturn]] void refuse(Operator op, const Value& left, const Value& right) {
  if (op == Operator::kAdd && (left.is_text() || left.is_sequence())) {
    raise_runtime("can only concatenate {} (not \"{}\") to {}", type_name(left), type_name(right), type_name(left));
  }
  raise_runtime("unsupported operand type(s) for {}: '{}' and '{}'", symbol_of(op), type_name(left), type_name(right));
}

[[noreturn]] void overflow() { raise_runtime("integer overflow: the result does not fit into 64 bits"); }

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) raise_runtime("integer division or modulo by zero");
  if (a == std::numeric_limits<int64_t>::min() && b == -1) overflow();
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t floor_modulo(int64_t a, int64_t b) {
  if (b == 0) raise_runtime("integer division or modulo by zero");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_modulo(double a, double b) {
  if (b == 0) raise_runtime("float modulo");
  double rest = std::fmod(a, b);
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) rest += b;
  } else {
    rest = std::copysign(0.0, b);
  }
  return rest;
}

double floor_divide(double a, double b) {
  if (b == 0) raise_runtime("float floor division by zero");
  // From the exact remainder, as a / b may have been rounded up to the next integer already.
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

double divide(const Value& left, const Value& right) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const auto is_exact = [](const Value& v) { return !v.is_integral() || (v.as_integer() >= -kExact && v.as_integer() <= kExact); };
  if (!is_exact(left) || !is_exact(right)) raise_runtime("integers beyond 2**53 cannot be divided with / exactly here: use //");
  const double divisor = to_real(right);
  if (divisor == 0) raise_runtime("{}division by zero", left.is_integral() && right.is_integral() ? "" : "float ");
  return to_real(left) / divisor;
}

Value power(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral() && right.as_integer() >= 0) {
    int64_t result = 1;
    int64_t base = left.as_integer();
    for (int64_t exponent = right.as_integer(); exponent > 0; exponent >>= 1) {
      if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
      if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) overflow();
    }
    return Value::integer(result);
  }
  const double base = to_real(left);
  const double exponent = to_real(right);
  if (base == 0 && exponent < 0) raise_runtime("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && exponent != std::floor(exponent))
    raise_runtime("the result would be a complex number");
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) raise_runtime("(34, 'Numerical result out of range')");
  return Value::real(result);
}

Value integer_arithmetic(Operator op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = false;
  switch (op) {
    case Operator::kAdd:
      overflows = __builtin_add_overflow(a, b, &result);
      break;
    case Operator::kSubtract:
      overflows = __builtin_sub_overflow(a, b, &result);
      break;
    case Operator::kMultiply:
      overflows = __builtin_mul_overflow(a, b, &result);
      break;
    case Operator::kFloorDivide:
      result = floor_divide(a, b);
      break;
    default:
      result = floor_modulo(a, b);
      break;
  }
  if (overflows) overflow();
  return Value::integer(result);
}

Value real_arithmetic(Operator op, double a, double b) {
  switch (op) {
    case Operator::kAdd:
      return Value::real(a + b);
    case Operator::kSubtract:
      return Value::real(a - b);
    case Operator::kMultiply:
      return Value::real(a * b);
    case Operator::kFloorDivide:
      return Value::real(floor_divide(a, b));
    default:
      return Value::real(floor_modulo(a, b));
  }
}

Value arithmetic(Operator op, const Value& left, const Value& right) {
  if (op == Operator::kDivide) return Value::real(divide(left, right));
  if (op == Operator::kPower) return power(left, right);
  if (left.is_integral() && right.is_integral()) return integer_arithmetic(op, left.as_integer(), right.as_integer());
  return real_arithmetic(op, to_real(left), to_real(right));
}

Value repeat(Heap& heap, const Value& value, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  const uint64_t size = value.is_text() ? value.as_text().size() : value.as_sequence().items.size();
  const uint64_t bytes = size * (value.is_text() ? 1 : sizeof(Value));
  if (bytes != 0 && times > std::numeric_limits<uint64_t>::max() / bytes) heap.expect_room(std::numeric_limits<size_t>::max());
  heap.expect_room(bytes * times);
  if (value.is_text()) {
    std::string text;
    text.reserve(bytes * times);
    for (uint64_t i = 0; size > 0 && i < times; ++i) text += value.as_text();
    return new_text(heap, text, value.safe());
  }
  heap.step(size * times);
  std::vector<Value> items;
  items.reserve(size * times);
  for (uint64_t i = 0; size > 0 && i < times; ++i)
    items.insert(items.end(), value.as_sequence().items.begin(), value.as_sequence().items.end());
  return value.is(Type::kList) ? new_list(heap, items) : new_tuple(heap, items);
}

Value concatenate(Heap& heap, const Value& left, const Value& right) {
  if (left.is_text()) return join_texts(heap, left, right);
  heap.expect_room((left.as_sequence().items.size() + right.as_sequence().items.size()) * sizeof(Value));
  std::vector<Value> items(left.as_sequence().items.begin(), left.as_sequence().items.end());
  items.insert(items.end(), right.as_sequence().items.begin(), right.as_sequence().items.end());
  return left.is(Type::kList) ? new_list(heap, items) : new_tuple(heap, items);
}

// -1, 0, 1; 2 if one is not a number. An integer is compared exactly: long double holds every one.
int compare_numbers(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral())
    return left.as_integer() < right.as_integer() ? -1 : left.as_integer() > right.as_integer() ? 1 : 0;
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const long double a = left.is_integral() ? static_cast<long double>(left.as_integer()) : static_cast<long double>(left.as_real());
  const long double b = right.is_integral() ? static_cast<long double>(right.as_integer()) : static_cast<long double>(right.as_real());
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

bool equal_items(Heap& heap, std::span<const Value> left, std::span<const Value> right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!equal(heap, left[i], right[i])) return false;
  }
  return true;
}

bool equal_dicts(Heap& heap, const Dict& left, const Dict& right) {
  if (left.entries.size() != right.entries.size()) return false;
  for (const Entry& entry : left.entries) {
    const Value* other = find(heap, right, entry.key);
    if (other == nullptr || !equal(heap, entry.value, *other)) return false;
  }
  return true;
}

}  // namespace

double to_real(const Value& number) { return number.is_integral() ? static_cast<double>(number.as_integer()) : number.as_real(); }

int64_t require_integer(const Value& value, std::string_view what) {
  if (value.is_undefined()) raise_undefined(value);
  if (!value.is_integral()) raise_runtime("{} must be an integer, not '{}'", what, type_name(value));
  return value.as_integer();
}

Value binary(Heap& heap, Operator op, const Value& left, const Value& right) {
  heap.step();
  if (left.is_undefined()) raise_undefined(left);
  if (op == Operator::kModulo && left.is_text()) return printf_format(heap, left, right);
  if (right.is_undefined()) raise_undefined(right);
  if (left.is_number() && right.is_number()) return arithmetic(op, left, right);
  const bool left_repeats = left.is_text() || left.is_sequence();
  const bool right_repeats = right.is_text() || right.is_sequence();
  if (op == Operator::kMultiply && left_repeats && right.is_integral()) return repeat(heap, left, right.as_integer());
  if (op == Operator::kMultiply && right_repeats && left.is_integral()) return repeat(heap, right, left.as_integer());
  if (op == Operator::kAdd && left_repeats && left.type() == right.type()) return concatenate(heap, left, right);
  refuse(op, left, right);
}

Value unary(Operator op, const Value& value) {
  if (value.is_undefined()) raise_undefined(value);
  const bool negate = op == Operator::kNegate;
  if (value.is(Type::kFloat)) return Value::real(negate ? -value.as_real() : value.as_real());
  if (!value.is_integral()) raise_runtime("bad operand type for unary {}: '{}'", negate ? '-' : '+', type_name(value));
  int64_t result = value.as_integer();
  if (negate && __builtin_sub_overflow(int64_t{0}, result, &result)) overflow();
  return Value::integer(result);
}

bool equal(Heap& heap, const Value& left, const Value& right) {
  heap.step();
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == 0;
  if (left.type() != right.type()) return false;
  switch (left.type()) {
    case Type::kUndefined:
    case Type::kNone:
      return true;
    case Type::kText:
      heap.step_over(left.as_text());
      return left.as_text() == right.as_text();
    case Type::kList:
    case Type::kTuple:
      return equal_items(heap, left.as_sequence().items, right.as_sequence().items);
    case Type::kDict:
      return equal_dicts(heap, left.as_dict(), right.as_dict());
    case Type::kRange: {
      const Range& a = left.as_range();
      const Range& b = right.as_range();
      return a.size() == b.size() && (a.size() == 0 || (a.start == b.start && (a.size() == 1 || a.step == b.step)));
    }
    case Type::kView:
      if (left.identity() != right.identity()) raise_runtime("'{}' objects cannot be compared here", type_name(left));
      return true;
    default:
      return left.identity() == right.identity();
  }
}

bool less(Heap& heap, const Value& left, const Value& right, std::string_view symbol) {
  heap.step();
  if (left.is_undefined()) raise_undefined(left);
  if (right.is_undefined()) raise_undefined(right);
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == -1;
  if (left.is_text() && right.is_text()) {
    heap.step_over(left.as_text());
    return left.as_text() < right.as_text();  // UTF-8 sorts as its characters do
  }
  if (left.is_sequence() && left.type() == right.type()) {
    const auto& a = left.as_sequence().items;
    const auto& b = right.as_sequence().items;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (!equal(heap, a[i], b[i])) return less(heap, a[i], b[i], symbol);
    }
    return a.size() < b.size();
  }
  raise_runtime("'{}' not supported between instances of '{}' and '{}'", symbol, type_name(left), type_name(right));
}

namespace {

// a <= b, which for numbers is not the opposite of b < a (NaN).
bool less_or_equal(Heap& heap, const Value& left, const Value& right, std::string_view symbol) {
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) <= 0;
  if (left.is_sequence() && left.type() == right.type()) return equal(heap, left, right) || less(heap, left, right, symbol);
  return !less(heap, right, left, symbol);
}

}  // namespace

bool compare(Heap& heap, Operator op, const Value& left, const Value& right) {
  switch (op) {
    case Operator::kEqual:
      return equal(heap, left, right);
    case Operator::kNotEqual:
      return !equal(heap, left, right);
    case Operator::kIn:
      return contains(heap, right, left);
    case Operator::kNotIn:
      return !contains(heap, right, left);
    default:
      break;
  }
  if (left.is_undefined()) raise_undefined(left);
  if (right.is_undefined()) raise_undefined(right);
  const bool comparable =
      (left.is_number() && right.is_number()) || (left.type() == right.type() && (left.is_text() || left.is_sequence()));
  constexpr auto symbol = [](Operator o) {
    return o == Operator::kLess ? "<" : o == Operator::kLessEqual ? "<=" : o == Operator::kGreater ? ">" : ">=";
  };
  if (!comparable) raise_runtime("'{}' not supported between instances of '{}' and '{}'", symbol(op), type_name(left), type_name(right));
  switch (op) {
    case Operator::kLess:
      return less(heap, left, right);
    case Operator::kGreater:
      return less(heap, right, left, ">");
    case Operator::kLessEqual:
      return less_or_equal(heap, left, right, "<=");
    default:
      return less_or_equal(heap, right, left, ">=");
  }
}

bool contains(Heap& heap, const Value& container, const Value& item) {
  if (container.is_text()) {
    if (item.is_undefined()) raise_undefined(item);
    if (!item.is_text()) raise_runtime("'in <string>' requires string as left operand, not {}", type_name(item));
    heap.step_over(container.as_text());
    return container.as_text().find(item.as_text()) != std::string_view::npos;
  }
  if (container.is(Type::kDict)) return find(heap, container.as_dict(), item) != nullptr;
  if (!is_iterable(container)) raise_runtime("argument of type '{}' is not iterable", type_name(container));
  Walk walk(heap, container);
  Value candidate;
  while (walk.next(candidate)) {
    if (equal(heap, candidate, item)) return true;
  }
  return false;
}

}  // namespace teapot::text::jinja
