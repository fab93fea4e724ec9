#include "text/jinja/tests.h"

#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/case_mapping.h"
#include "text/jinja/characters.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

// A test of the value alone.
template <bool (*kTest)(const Value&)>
bool plain(Heap& /*heap*/, const Value& value, const Arguments& arguments) {
  expect_no_arguments("this test", arguments);
  return kTest(value);
}

template <Operator kOperator>
bool comparison(Heap& heap, const Value& value, const Arguments& arguments) {
  return compare(heap, kOperator, value, bind("this test", arguments, "other").required(0));
}

bool is_defined(const Value& v) { return !v.is_undefined(); }
bool is_undefined(const Value& v) { return v.is_undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.is(Type::kBool); }
bool is_true(const Value& v) { return v.is(Type::kBool) && v.as_integer() != 0; }
bool is_false(const Value& v) { return v.is(Type::kBool) && v.as_integer() == 0; }
bool is_integer(const Value& v) { return v.is(Type::kInt); }
bool is_float(const Value& v) { return v.is(Type::kFloat); }
bool is_number(const Value& v) { return v.is_number(); }
bool is_string(const Value& v) { return v.is_text(); }
bool is_mapping(const Value& v) { return v.is(Type::kDict); }
bool is_escaped(const Value& v) { return v.is_text() && v.safe(); }

bool is_sequence(const Value& v) { return v.is_text() || v.is_sequence() || v.is(Type::kDict) || v.is(Type::kRange) || v.is_undefined(); }

bool is_callable(const Value& v) {
  switch (v.type()) {
    case Type::kUndefined:
    case Type::kMacro:
    case Type::kFunction:
    case Type::kMethod:
    case Type::kLoop:
    case Type::kJoiner:
      return true;
    default:
      return false;
  }
}

template <int kRest>
bool has_rest_of_two(Heap& heap, const Value& value, const Arguments& arguments) {
  expect_no_arguments("this test", arguments);
  return equal(heap, binary(heap, Operator::kModulo, value, Value::integer(2)), Value::integer(kRest));
}

bool is_divisible_by(Heap& heap, const Value& value, const Arguments& arguments) {
  const Value& divisor = bind("divisibleby", arguments, "num").required(0);
  return equal(heap, binary(heap, Operator::kModulo, value, divisor), Value::integer(0));
}

template <bool (*kIs)(char32_t)>
bool has_case(Heap& heap, const Value& value, const Arguments& arguments) {
  expect_no_arguments("this test", arguments);
  bool found = false;
  for (const char32_t code : decode(to_plain_text(heap, value))) {
    if (!is_cased(code)) continue;
    if (!kIs(code)) return false;
    found = true;
  }
  return found;
}

// Python's `is`. Whether two equal texts or numbers are one object is an accident of CPython, so that is not answered.
bool is_same_as(Heap& heap, const Value& value, const Arguments& arguments) {
  const Value& other = bind("sameas", arguments, "other").required(0);
  if (value.type() != other.type()) return false;
  switch (value.type()) {
    case Type::kNone:
      return true;
    case Type::kBool:
      return value.as_integer() == other.as_integer();
    case Type::kInt:
    case Type::kFloat:
    case Type::kText: {
      if (!equal(heap, value, other)) return false;
      const bool one_object = value.is_text() && value.as_text().data() == other.as_text().data() && value.safe() == other.safe();
      const bool cached = value.is(Type::kInt) && value.as_integer() >= -5 && value.as_integer() <= 256;
      if (!one_object && !cached) raise_runtime("whether equal '{}' values are the same object is not defined", type_name(value));
      return true;
    }
    default:
      return value.identity() == other.identity();
  }
}

bool is_in(Heap& heap, const Value& value, const Arguments& arguments) {
  return contains(heap, bind("in", arguments, "seq").required(0), value);
}

bool is_filter_name(const Value& v) { return v.is_text() && find_filter(v.as_text()) != nullptr; }
bool is_test_name(const Value& v) { return v.is_text() && find_test(v.as_text()) != nullptr; }

}  // namespace

const TestEntry* find_test(std::string_view name) {
  static constexpr TestEntry kTests[] = {
      {"!=", comparison<Operator::kNotEqual>},
      {"<", comparison<Operator::kLess>},
      {"<=", comparison<Operator::kLessEqual>},
      {"==", comparison<Operator::kEqual>},
      {">", comparison<Operator::kGreater>},
      {">=", comparison<Operator::kGreaterEqual>},
      {"boolean", plain<is_boolean>},
      {"callable", plain<is_callable>},
      {"defined", plain<is_defined>},
      {"divisibleby", is_divisible_by},
      {"eq", comparison<Operator::kEqual>},
      {"equalto", comparison<Operator::kEqual>},
      {"escaped", plain<is_escaped>},
      {"even", has_rest_of_two<0>},
      {"false", plain<is_false>},
      {"filter", plain<is_filter_name>},
      {"float", plain<is_float>},
      {"ge", comparison<Operator::kGreaterEqual>},
      {"greaterthan", comparison<Operator::kGreater>},
      {"gt", comparison<Operator::kGreater>},
      {"in", is_in},
      {"integer", plain<is_integer>},
      {"iterable", plain<is_iterable>},
      {"le", comparison<Operator::kLessEqual>},
      {"lessthan", comparison<Operator::kLess>},
      {"lower", has_case<is_lower>},
      {"lt", comparison<Operator::kLess>},
      {"mapping", plain<is_mapping>},
      {"ne", comparison<Operator::kNotEqual>},
      {"none", plain<is_none>},
      {"number", plain<is_number>},
      {"odd", has_rest_of_two<1>},
      {"sameas", is_same_as},
      {"sequence", plain<is_sequence>},
      {"string", plain<is_string>},
      {"test", plain<is_test_name>},
      {"true", plain<is_true>},
      {"undefined", plain<is_undefined>},
      {"upper", has_case<is_upper>},
  };
  const auto* found = std::ranges::lower_bound(kTests, name, {}, &TestEntry::name);
  return found != std::end(kTests) && found->name == name ? found : nullptr;
}

}  // namespace teapot::text::jinja
