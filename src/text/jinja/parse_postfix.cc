// What may follow an expression: attributes, items, calls, filters and tests.
#include <charconv>

#include "text/jinja/failure.h"
#include "text/jinja/filters.h"
#include "text/jinja/parser_impl.h"
#include "text/jinja/tests.h"

namespace teapot::text::jinja {

ExprPtr Parser::parse_postfix(ExprPtr expr) {
  while (true) {
    if (is_operator(".")) {
      expr = parse_attribute(std::move(expr));
    } else if (is_operator("[")) {
      expr = parse_subscript(std::move(expr));
    } else if (is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr Parser::parse_filters_and_tests(ExprPtr expr) {
  while (true) {
    if (is_operator("|")) {
      expr = parse_filter_chain(std::move(expr), false);
    } else if (is_name("is")) {
      expr = parse_test(std::move(expr));
    } else if (is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr Parser::parse_attribute(ExprPtr object) {
  take();
  const Token& name = take();
  ExprPtr expr = make(ExprKind::kAttribute, name.offset);
  expr->operands.push_back(std::move(object));
  if (name.type == TokenType::kName) {
    expr->text = name.text;
    return finish(std::move(expr));
  }
  int64_t index = 0;
  const std::string_view digits = name.text;
  if (name.type != TokenType::kInteger ||
      std::from_chars(digits.data(), digits.data() + digits.size(), index).ptr != digits.data() + digits.size()) {
    raise_syntax_at(name.offset, "expected name or number");
  }
  expr->kind = ExprKind::kItem;
  expr->operands.push_back(make_literal(name.offset, Value::integer(index)));
  return finish(std::move(expr));
}

ExprPtr Parser::parse_subscript(ExprPtr object) {
  const Nested nested(*this);
  take();
  ExprPtr expr = parse_subscript_item(std::move(object));
  if (!is_operator(",")) {
    expect_operator("]");
    return expr;
  }
  // x[a, b] asks for the key (a, b); slices among them do not exist for any of our values.
  if (expr->kind != ExprKind::kItem) fail_at_current("a slice cannot be part of a tuple");
  ExprPtr tuple = make(ExprKind::kTuple, current().offset);
  tuple->operands.push_back(std::move(expr->operands[1]));
  while (skip_operator(",")) tuple->operands.push_back(parse_expression());
  expect_operator("]");
  expr->operands[1] = finish(std::move(tuple));
  return finish(std::move(expr));
}

ExprPtr Parser::parse_subscript_item(ExprPtr object) {
  ExprPtr expr = make(ExprKind::kItem, current().offset);
  expr->operands.push_back(std::move(object));
  if (is_operator("]")) fail_at_current("Expected an expression, got ']'");
  ExprPtr start;
  if (!is_operator(":")) start = parse_expression();
  if (!is_operator(":")) {
    expr->operands.push_back(std::move(start));
    return finish(std::move(expr));
  }
  expr->kind = ExprKind::kSlice;
  expr->operands.push_back(std::move(start));
  for (int part = 0; part < 2; ++part) {
    const bool has_part = skip_operator(":") && !is_operator(":") && !is_operator("]") && !is_operator(",");
    expr->operands.push_back(has_part ? parse_expression() : nullptr);
  }
  return finish(std::move(expr));
}

ExprPtr Parser::parse_call(ExprPtr callee) {
  ExprPtr expr = make(ExprKind::kCall, callee->offset);
  expr->operands.push_back(std::move(callee));
  parse_arguments(*expr);
  return finish(std::move(expr));
}

void Parser::parse_arguments(Expr& call) {
  const Nested nested(*this);
  expect_operator("(");
  bool first = true;
  while (!is_operator(")")) {
    if (!first) expect_operator(",");
    if (!first && is_operator(")")) break;  // a comma behind the last one
    first = false;
    if (is_operator("*") && !call.spread && !call.keyword_spread) {
      take();
      call.spread = parse_expression();
    } else if (is_operator("**") && !call.keyword_spread) {
      take();
      call.keyword_spread = parse_expression();
    } else if (current().type == TokenType::kName && ahead().type == TokenType::kOperator && ahead().text == "=" && !call.keyword_spread) {
      const std::string_view name = take().text;
      take();
      call.keywords.push_back({name, parse_expression()});
    } else if (!call.spread && !call.keyword_spread && call.keywords.empty()) {
      call.operands.push_back(parse_expression());
    } else {
      fail_at_current("invalid syntax for function call expression");
    }
  }
  expect_operator(")");
}

std::string_view Parser::parse_dotted_name() {
  if (current().type != TokenType::kName) fail_at_current(fmt::format("expected token 'name', got '{}'", describe(current())));
  std::string_view name = take().text;
  while (is_operator(".")) {
    take();
    if (current().type != TokenType::kName) fail_at_current(fmt::format("expected token 'name', got '{}'", describe(current())));
    name = keep(fmt::format("{}.{}", name, take().text));
  }
  return name;
}

ExprPtr Parser::parse_filter_chain(ExprPtr input, bool first_without_pipe) {
  while (is_operator("|") || first_without_pipe) {
    if (!first_without_pipe) take();
    first_without_pipe = false;
    ExprPtr expr = make(ExprKind::kFilter, current().offset);
    expr->text = parse_dotted_name();
    expr->filter = find_filter(expr->text);
    if (expr->filter == nullptr && !conditional_) raise_syntax_at(expr->offset, "No filter named '{}'.", expr->text);
    expr->operands.push_back(std::move(input));
    if (is_operator("(")) parse_arguments(*expr);
    input = finish(std::move(expr));
  }
  return input;
}

ExprPtr Parser::parse_test(ExprPtr input) {
  take();
  const bool negated = skip_name("not");
  ExprPtr expr = make(ExprKind::kTest, current().offset);
  expr->text = parse_dotted_name();
  expr->test = find_test(expr->text);
  if (expr->test == nullptr && !conditional_) raise_syntax_at(expr->offset, "No test named '{}'.", expr->text);
  expr->operands.push_back(std::move(input));
  const TokenType type = current().type;
  const bool has_operand = type == TokenType::kName || type == TokenType::kText || type == TokenType::kInteger ||
                           type == TokenType::kReal || is_operator("[") || is_operator("{");
  if (is_operator("(")) {
    parse_arguments(*expr);
  } else if (has_operand && !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) fail_at_current("You cannot chain multiple tests with is");
    expr->operands.push_back(parse_postfix(parse_primary()));
  }
  expr = finish(std::move(expr));
  if (!negated) return expr;
  ExprPtr negation = make(ExprKind::kUnary, expr->offset);
  negation->op = Operator::kNot;
  negation->operands.push_back(std::move(expr));
  return finish(std::move(negation));
}

}  // namespace teapot::text::jinja
