#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/globals.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/slice.h"
#include "text/jinja/tests.h"

namespace teapot::text::jinja {

Interpreter::Descent::Descent(Interpreter& interpreter) : interpreter_(interpreter) {
  if (interpreter_.descent_ >= kMaxDescent) raise(TemplateErrorKind::kBudget, "the template calls itself too deep");
  ++interpreter_.descent_;
}

Value Interpreter::evaluate(const Expr& expr) {
  const Descent descent(*this);
  heap_.step();
  const auto operand = [&](size_t index) { return evaluate(*expr.operands[index]); };
  switch (expr.kind) {
    case ExprKind::kLiteral:
      return expr.literal;
    case ExprKind::kName:
      return evaluate_name(expr);
    case ExprKind::kTuple:
    case ExprKind::kList:
      return evaluate_items(expr);
    case ExprKind::kDict:
      return evaluate_dict(expr);
    case ExprKind::kUnary: {
      const Value value = operand(0);
      where_ = expr.offset;
      return expr.op == Operator::kNot ? Value::boolean(!truth(value)) : unary(expr.op, value);
    }
    case ExprKind::kBinary: {
      const Value left = operand(0);
      const Value right = operand(1);
      where_ = expr.offset;
      return binary(heap_, expr.op, left, right);
    }
    case ExprKind::kAnd: {
      const Value left = operand(0);
      return truth(left) ? operand(1) : left;
    }
    case ExprKind::kOr: {
      const Value left = operand(0);
      return truth(left) ? left : operand(1);
    }
    case ExprKind::kCompare:
      return evaluate_compare(expr);
    case ExprKind::kConcat:
      return evaluate_concat(expr);
    case ExprKind::kConditional:
      return evaluate_conditional(expr);
    case ExprKind::kAttribute: {
      const Value object = operand(0);
      where_ = expr.offset;
      return get_attribute(heap_, object, expr.text);
    }
    case ExprKind::kItem: {
      const Value object = operand(0);
      const Value key = operand(1);
      where_ = expr.offset;
      return get_item(heap_, object, key);
    }
    case ExprKind::kSlice:
      return evaluate_slice(expr);
    case ExprKind::kCall:
      return evaluate_call(expr);
    case ExprKind::kFilter:
      return evaluate_filter(expr, nullptr);
    case ExprKind::kTest:
      return evaluate_test(expr);
    case ExprKind::kNamespaceField:
      break;  // only a target
  }
  return {};
}

Value Interpreter::evaluate_name(const Expr& expr) {
  where_ = expr.offset;
  if (const Value* value = find_in_scopes(scope_, expr.variable)) return *value;
  if (const auto& value = context_[expr.variable]) return *value;
  return undefined_variable(expr.variable);
}

Value Interpreter::evaluate_items(const Expr& expr) {
  std::vector<Value> items;
  items.reserve(expr.operands.size());
  for (const ExprPtr& operand : expr.operands) items.push_back(evaluate(*operand));
  where_ = expr.offset;
  return expr.kind == ExprKind::kList ? new_list(heap_, items) : new_tuple(heap_, items);
}

Value Interpreter::evaluate_dict(const Expr& expr) {
  DictBuilder builder(heap_);
  for (size_t i = 0; i < expr.operands.size(); i += 2) {
    const Value key = evaluate(*expr.operands[i]);
    const Value value = evaluate(*expr.operands[i + 1]);
    where_ = expr.operands[i]->offset;
    builder.set(key, value);
  }
  return builder.take();
}

Value Interpreter::evaluate_compare(const Expr& expr) {
  Value left = evaluate(*expr.operands[0]);
  for (size_t i = 0; i < expr.comparisons.size(); ++i) {
    const Value right = evaluate(*expr.operands[i + 1]);
    where_ = expr.offset;
    if (!compare(heap_, expr.comparisons[i], left, right)) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_concat(const Expr& expr) {
  std::string text;
  for (const ExprPtr& operand : expr.operands) {
    const Value value = evaluate(*operand);
    where_ = operand->offset;
    append_str(heap_, text, value);
    heap_.expect_room(text.size());
  }
  return new_text(heap_, text);
}

Value Interpreter::evaluate_conditional(const Expr& expr) {
  const Value test = evaluate(*expr.operands[1]);
  if (truth(test)) return evaluate(*expr.operands[0]);
  if (expr.operands[2]) return evaluate(*expr.operands[2]);
  return undefined_hint(heap_, "the inline if-expression evaluated to false and no else section was defined.");
}

Value Interpreter::evaluate_slice(const Expr& expr) {
  const Value object = evaluate(*expr.operands[0]);
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    if (expr.operands[i + 1]) bounds[i] = evaluate(*expr.operands[i + 1]);
  }
  where_ = expr.offset;
  return slice(heap_, object, bounds[0], bounds[1], bounds[2]);
}

Arguments Interpreter::evaluate_arguments(const Expr& expr, size_t first_operand) {
  Arguments arguments;
  for (size_t i = first_operand; i < expr.operands.size(); ++i) arguments.positional.push_back(evaluate(*expr.operands[i]));
  for (const KeywordExpr& keyword : expr.keywords) {
    const bool twice = std::ranges::any_of(arguments.keywords, [&](const auto& other) { return other.name == keyword.name; });
    if (twice) raise_runtime("keyword argument repeated: {}", keyword.name);
    arguments.keywords.push_back({keyword.name, evaluate(*keyword.value)});
  }
  if (expr.spread) {
    Walk walk(heap_, evaluate(*expr.spread));
    for (Value item; walk.next(item);) arguments.positional.push_back(item);
  }
  if (expr.keyword_spread) {
    const Value dict = evaluate(*expr.keyword_spread);
    where_ = expr.offset;
    if (dict.is_undefined()) raise_undefined(dict);
    if (!dict.is(Type::kDict)) raise_runtime("argument after ** must be a mapping, not {}", type_name(dict));
    for (const Entry& entry : dict.as_dict().entries) {
      const std::string_view name = require_text(entry.key, "keywords");
      const bool twice = std::ranges::any_of(arguments.keywords, [&](const auto& other) { return other.name == name; });
      if (twice) raise_runtime("got multiple values for keyword argument '{}'", name);
      arguments.keywords.push_back({name, entry.value});
    }
  }
  return arguments;
}

Value Interpreter::evaluate_call(const Expr& expr) {
  const Value callee = evaluate(*expr.operands[0]);
  const Arguments arguments = evaluate_arguments(expr, 1);
  where_ = expr.offset;
  return call(callee, arguments);
}

Value Interpreter::evaluate_filter(const Expr& expr, const Value* input) {
  Value value;
  if (!expr.operands[0]) {
    value = *input;
  } else if (expr.operands[0]->kind == ExprKind::kFilter) {
    value = evaluate_filter(*expr.operands[0], input);
  } else {
    value = evaluate(*expr.operands[0]);
  }
  const Arguments arguments = evaluate_arguments(expr, 1);
  where_ = expr.offset;
  if (expr.filter == nullptr) raise_runtime("No filter named '{}' found.", expr.text);
  return apply_filter(heap_, *expr.filter, value, arguments);
}

Value Interpreter::evaluate_test(const Expr& expr) {
  const Value value = evaluate(*expr.operands[0]);
  const Arguments arguments = evaluate_arguments(expr, 1);
  where_ = expr.offset;
  if (expr.test == nullptr) raise_runtime("No test named '{}' found.", expr.text);
  return Value::boolean(expr.test->code(heap_, value, arguments));
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  switch (callee.type()) {
    case Type::kUndefined:
      raise_undefined(callee);
    case Type::kMethod:
      return call_method(heap_, callee.as_method(), arguments);
    case Type::kMacro:
      return call_macro(callee.as_macro(), arguments);
    case Type::kFunction:
      if (callee.as_function().code == nullptr) raise_runtime("'{}' is not supported", callee.as_function().name);
      return callee.as_function().code(heap_, now_, arguments);
    case Type::kJoiner: {
      expect_no_arguments("a joiner", arguments);
      Joiner& joiner = callee.as_joiner();
      return Value::text(std::exchange(joiner.used, true) ? joiner.separator : std::string_view());
    }
    case Type::kLoop: {
      Loop& loop = callee.as_loop();
      const auto bound = bind("loop", arguments, "iterable");
      if (loop.recursive == nullptr) raise_runtime("The loop must have the 'recursive' marker to be called recursively.");
      std::string text;
      std::string* const outer = std::exchange(out_, &text);
      run_loop(*loop.recursive, bound.required(0), loop.depth0 + 1, loop.scope);
      out_ = outer;
      return new_text(heap_, text);
    }
    default:
      raise_runtime("'{}' object is not callable", type_name(callee));
  }
}

void Interpreter::bind_parameters(const MacroDefinition& macro, Scope& scope, const Arguments& arguments) {
  const auto& positional = arguments.positional;
  const size_t taken = std::min(positional.size(), macro.parameters.size());
  std::vector<bool> used(arguments.keywords.size());
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    const auto keyword = std::ranges::find(arguments.keywords, parameter.name, &Arguments::Keyword::name);
    if (keyword != arguments.keywords.end()) {
      if (i < taken) raise_runtime("macro '{}' got multiple values for argument '{}'", macro.name, parameter.name);
      used[static_cast<size_t>(keyword - arguments.keywords.begin())] = true;
      assign(heap_, scope, parameter.variable, keyword->value);
    } else if (i < taken) {
      assign(heap_, scope, parameter.variable, positional[i]);
    } else if (parameter.fallback) {
      assign(heap_, scope, parameter.variable, evaluate(*parameter.fallback));
    } else {
      const Value name = Value::text(parameter.name);
      assign(heap_, scope, parameter.variable, new_undefined(heap_, {Undefined::Reason::kParameter, Value(), name, {}}));
    }
  }
  std::vector<Entry> surplus;
  Value caller = undefined_hint(heap_, "No caller defined");
  for (size_t i = 0; i < arguments.keywords.size(); ++i) {
    if (used[i]) continue;
    const auto& keyword = arguments.keywords[i];
    if (macro.uses_caller && keyword.name == "caller") {
      caller = keyword.value;
    } else if (macro.uses_kwargs) {
      surplus.push_back({Value::text(keyword.name), keyword.value});
    } else {
      raise_runtime("macro '{}' takes no keyword argument '{}'", macro.name, keyword.name);
    }
  }
  if (positional.size() > taken && !macro.uses_varargs) {
    raise_runtime("macro '{}' takes not more than {} argument(s)", macro.name, macro.parameters.size());
  }
  // Those that the template never names have no NameId, and nobody to look for them.
  const auto assign_special = [&](std::string_view name, const Value& value) {
    const bool is_parameter = std::ranges::any_of(macro.parameters, [&](const Parameter& parameter) { return parameter.name == name; });
    if (!is_parameter) assign(heap_, scope, program_.name_ids.at(name), value);
  };
  if (macro.uses_caller) assign_special("caller", caller);
  if (macro.uses_kwargs) assign_special("kwargs", new_dict(heap_, surplus));
  if (macro.uses_varargs)
    assign_special("varargs", new_tuple(heap_, {positional.begin() + static_cast<std::ptrdiff_t>(taken), positional.end()}));
}

Value Interpreter::call_macro(const Macro& macro, const Arguments& arguments) {
  const Descent descent(*this);
  std::string text;
  std::string* const outer_out = std::exchange(out_, &text);
  Scope* const outer_scope = std::exchange(scope_, new_scope(macro.scope, macro.definition->unassigned));
  bind_parameters(*macro.definition, *scope_, arguments);
  execute(macro.definition->body);
  scope_ = outer_scope;
  out_ = outer_out;
  return new_text(heap_, text);
}

}  // namespace teapot::text::jinja
