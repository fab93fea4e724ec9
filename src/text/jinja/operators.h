// Python's operators on template values, with Python's errors. Integers have 64 bits: what would not fit is an error.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/value.h"

namespace teapot::text::jinja {

Value binary(Heap& heap, Operator op, const Value& left, const Value& right);
Value unary(Operator op, const Value& value);  // kNegate, kPlus; kNot is truth()
bool compare(Heap& heap, Operator op, const Value& left, const Value& right);

bool equal(Heap& heap, const Value& left, const Value& right);
// Of texts, numbers, lists, tuples; anything else is an error that names `symbol`.
bool less(Heap& heap, const Value& left, const Value& right, std::string_view symbol = "<");
bool contains(Heap& heap, const Value& container, const Value& item);

// Integral values as they are, for index and count arguments; others are an error that names `what`.
int64_t require_integer(const Value& value, std::string_view what);
double to_real(const Value& number);

}  // namespace teapot::text::jinja
