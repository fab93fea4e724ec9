#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "text/jinja/failure.h"
#include "text/jinja/filters.h"
#include "text/jinja/parser_impl.h"
#include "text/jinja/tests.h"

namespace teapot::text::jinja {

Parser::Nested::Nested(Parser& parser) : parser_(parser) {
  if (parser_.nesting_ >= kMaxNesting) {
    throw Failure{TemplateErrorKind::kBudget, fmt::format("the template nests deeper than {} levels", kMaxNesting),
                  parser_.current().offset};
  }
  ++parser_.nesting_;
}

bool Parser::skip_operator(std::string_view text) {
  if (!is_operator(text)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view text) {
  if (!is_name(text)) return false;
  take();
  return true;
}

void Parser::fail_at_current(const std::string& message) const { raise_syntax_at(current().offset, "{}", message); }

void Parser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) fail_at_current(fmt::format("expected token '{}', got '{}'", text, describe(current())));
}

void Parser::expect_name(std::string_view text) {
  if (!skip_name(text)) fail_at_current(fmt::format("expected token '{}', got '{}'", text, describe(current())));
}

void Parser::expect(TokenType type, std::string_view what) {
  if (current().type == type) {
    take();
  } else if (current().type == TokenType::kEnd) {
    fail_at_current(fmt::format("unexpected end of template, expected '{}'.", what));
  } else {
    fail_at_current(fmt::format("expected token '{}', got '{}'", what, describe(current())));
  }
}

NameId Parser::intern(std::string_view name) {
  const auto [entry, is_new] = program_.name_ids.try_emplace(name, static_cast<NameId>(program_.names.size()));
  if (is_new) program_.names.push_back(name);
  return entry->second;
}

std::string_view Parser::keep(std::string text) { return program_.texts.emplace_back(std::move(text)); }

ExprPtr Parser::make(ExprKind kind, uint32_t offset) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->offset = offset;
  return expr;
}

ExprPtr Parser::finish(ExprPtr expr) const {
  uint32_t deepest = 0;
  const auto look = [&](const ExprPtr& child) {
    if (child) deepest = std::max(deepest, child->depth);
  };
  for (const ExprPtr& operand : expr->operands) look(operand);
  for (const KeywordExpr& keyword : expr->keywords) look(keyword.value);
  look(expr->spread);
  look(expr->keyword_spread);
  if (deepest >= kMaxDepth) {
    throw Failure{TemplateErrorKind::kBudget, fmt::format("an expression of the template nests deeper than {} levels", kMaxDepth),
                  expr->offset};
  }
  expr->depth = deepest + 1;
  return expr;
}

ExprPtr Parser::make_literal(uint32_t offset, const Value& value) const {
  ExprPtr expr = make(ExprKind::kLiteral, offset);
  expr->literal = value;
  return expr;
}

ExprPtr Parser::parse_expression(bool with_conditional) {
  const Nested nested(*this);
  ExprPtr expr = parse_or();
  while (with_conditional && is_name("if")) {
    ExprPtr conditional = make(ExprKind::kConditional, take().offset);
    // The first part was read before we knew that it may never be reached; an unknown filter in it was refused already unless
    // an if is around, which is one syntax error more than Jinja has.
    const Swapped conditional_part(conditional_, true);
    conditional->operands.push_back(std::move(expr));
    conditional->operands.push_back(parse_or());
    conditional->operands.push_back(skip_name("else") ? parse_expression() : nullptr);
    expr = finish(std::move(conditional));
  }
  return expr;
}

namespace {

// The expression `a op b` of two-sided kinds.
void add_operands(Expr& expr, ExprPtr left, ExprPtr right) {
  expr.operands.push_back(std::move(left));
  expr.operands.push_back(std::move(right));
}

bool is_constant(const Expr& expr) {
  if (expr.kind != ExprKind::kUnary && expr.kind != ExprKind::kBinary) return expr.kind == ExprKind::kLiteral;
  return std::ranges::all_of(expr.operands, [](const ExprPtr& operand) { return is_constant(*operand); });
}

}  // namespace

ExprPtr Parser::parse_or() {
  ExprPtr left = parse_and();
  while (is_name("or")) {
    ExprPtr expr = make(ExprKind::kOr, take().offset);
    add_operands(*expr, std::move(left), parse_and());
    left = finish(std::move(expr));
  }
  return left;
}

ExprPtr Parser::parse_and() {
  ExprPtr left = parse_not();
  while (is_name("and")) {
    ExprPtr expr = make(ExprKind::kAnd, take().offset);
    add_operands(*expr, std::move(left), parse_not());
    left = finish(std::move(expr));
  }
  return left;
}

ExprPtr Parser::parse_not() {
  if (!is_name("not")) return parse_compare();
  const Nested nested(*this);
  ExprPtr expr = make(ExprKind::kUnary, take().offset);
  expr->op = Operator::kNot;
  expr->operands.push_back(parse_not());
  return finish(std::move(expr));
}

ExprPtr Parser::parse_compare() {
  constexpr std::pair<std::string_view, Operator> kComparisons[] = {{"==", Operator::kEqual},     {"!=", Operator::kNotEqual},
                                                                    {"<=", Operator::kLessEqual}, {">=", Operator::kGreaterEqual},
                                                                    {"<", Operator::kLess},       {">", Operator::kGreater}};
  ExprPtr first = parse_sum();
  ExprPtr expr;
  while (true) {
    std::optional<Operator> op;
    const uint32_t offset = current().offset;
    for (const auto& [text, comparison] : kComparisons) {
      if (is_operator(text)) op = comparison;
    }
    if (is_name("in")) op = Operator::kIn;
    if (is_name("not") && ahead().type == TokenType::kName && ahead().text == "in") {
      take();
      op = Operator::kNotIn;
    }
    if (!op) break;
    take();
    if (!expr) {
      expr = make(ExprKind::kCompare, offset);
      expr->operands.push_back(std::move(first));
    }
    expr->comparisons.push_back(*op);
    expr->operands.push_back(parse_sum());
  }
  return expr ? finish(std::move(expr)) : std::move(first);
}

ExprPtr Parser::parse_sum() {
  ExprPtr left = parse_concat();
  while (is_operator("+") || is_operator("-")) {
    ExprPtr expr = make(ExprKind::kBinary, current().offset);
    expr->op = take().text == "+" ? Operator::kAdd : Operator::kSubtract;
    add_operands(*expr, std::move(left), parse_concat());
    left = finish(std::move(expr));
  }
  return left;
}

ExprPtr Parser::parse_concat() {
  ExprPtr first = parse_product();
  if (!is_operator("~")) return first;
  ExprPtr expr = make(ExprKind::kConcat, current().offset);
  expr->operands.push_back(std::move(first));
  while (skip_operator("~")) expr->operands.push_back(parse_product());
  return finish(std::move(expr));
}

ExprPtr Parser::parse_product() {
  constexpr std::pair<std::string_view, Operator> kProducts[] = {
      {"*", Operator::kMultiply}, {"/", Operator::kDivide}, {"//", Operator::kFloorDivide}, {"%", Operator::kModulo}};
  ExprPtr left = parse_power();
  while (true) {
    std::optional<Operator> op;
    for (const auto& [text, product] : kProducts) {
      if (is_operator(text)) op = product;
    }
    if (!op) return left;
    ExprPtr expr = make(ExprKind::kBinary, take().offset);
    expr->op = *op;
    add_operands(*expr, std::move(left), parse_power());
    left = finish(std::move(expr));
  }
}

ExprPtr Parser::parse_power() {
  ExprPtr left = parse_unary();
  while (is_operator("**")) {  // from the left, unlike Python
    ExprPtr expr = make(ExprKind::kBinary, take().offset);
    expr->op = Operator::kPower;
    add_operands(*expr, std::move(left), parse_unary());
    // Jinja computes a constant base beforehand and writes it down without brackets, so that Python raises -2 ** x to -(2 ** x).
    const Expr& base = *expr->operands[0];
    if (base.kind != ExprKind::kLiteral && is_constant(base) && !is_constant(*expr->operands[1])) {
      raise_syntax_at(expr->offset, "a computed constant to the power of something else is not supported");
    }
    left = finish(std::move(expr));
  }
  return left;
}

ExprPtr Parser::parse_unary(bool with_filter) {
  ExprPtr expr;
  if (is_operator("-") || is_operator("+")) {
    const Nested nested(*this);
    expr = make(ExprKind::kUnary, current().offset);
    expr->op = take().text == "-" ? Operator::kNegate : Operator::kPlus;
    expr->operands.push_back(parse_unary(false));
    expr = finish(std::move(expr));
  } else {
    expr = parse_primary();
  }
  expr = parse_postfix(std::move(expr));
  return with_filter ? parse_filters_and_tests(std::move(expr)) : std::move(expr);
}

ExprPtr Parser::parse_primary() {
  switch (current().type) {
    case TokenType::kName:
      return parse_name_or_constant();
    case TokenType::kText:
      return parse_texts();
    case TokenType::kInteger:
    case TokenType::kReal:
      return parse_number();
    default:
      break;
  }
  if (skip_operator("(")) {
    ExprPtr expr = parse_tuple(true, true);
    expect_operator(")");
    return expr;
  }
  if (is_operator("[")) return parse_list();
  if (is_operator("{")) return parse_dict();
  fail_at_current(fmt::format("unexpected '{}'", describe(current())));
}

ExprPtr Parser::parse_name_or_constant() {
  const Token& token = take();
  const std::string_view name = token.text;
  if (name == "true" || name == "True") return make_literal(token.offset, Value::boolean(true));
  if (name == "false" || name == "False") return make_literal(token.offset, Value::boolean(false));
  if (name == "none" || name == "None") return make_literal(token.offset, Value());
  for (MacroDefinition* macro : macros_) {
    macro->uses_caller |= name == "caller";
    macro->uses_varargs |= name == "varargs";
    macro->uses_kwargs |= name == "kwargs";
  }
  ExprPtr expr = make(ExprKind::kName, token.offset);
  expr->variable = intern(name);
  return expr;
}

ExprPtr Parser::parse_number() {
  const Token& token = take();
  std::string digits;
  for (const char c : token.text) {
    if (c != '_') digits += c;
  }
  if (token.type == TokenType::kReal) {
    double real = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
    // Out of range is infinity or zero, in Python too; from_chars leaves the value alone then.
    if (error == std::errc::result_out_of_range) real = std::strtod(digits.c_str(), nullptr);
    return make_literal(token.offset, Value::real(real));
  }
  int base = 10;
  std::string_view number = digits;
  if (number.size() > 2 && number[0] == '0' && number[1] > '9') {
    base = (number[1] | 0x20) == 'x' ? 16 : (number[1] | 0x20) == 'o' ? 8 : 2;
    number.remove_prefix(2);
  }
  int64_t integer = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), integer, base);
  if (error != std::errc{}) raise_syntax_at(token.offset, "the integer {} does not fit into 64 bits", token.text);
  return make_literal(token.offset, Value::integer(integer));
}

ExprPtr Parser::parse_texts() {
  const Token& first = take();
  std::string text = unquote(first);
  while (current().type == TokenType::kText) text += unquote(take());
  return make_literal(first.offset, Value::text(keep(std::move(text))));
}

ExprPtr Parser::parse_list() {
  ExprPtr expr = make(ExprKind::kList, take().offset);
  while (!is_operator("]")) {
    if (!expr->operands.empty()) expect_operator(",");
    if (is_operator("]")) break;
    expr->operands.push_back(parse_expression());
  }
  expect_operator("]");
  return finish(std::move(expr));
}

ExprPtr Parser::parse_dict() {
  ExprPtr expr = make(ExprKind::kDict, take().offset);
  while (!is_operator("}")) {
    if (!expr->operands.empty()) expect_operator(",");
    if (is_operator("}")) break;
    expr->operands.push_back(parse_expression());
    expect_operator(":");
    expr->operands.push_back(parse_expression());
  }
  expect_operator("}");
  return finish(std::move(expr));
}

bool Parser::at_tuple_end(std::string_view end_name) const {
  const TokenType type = current().type;
  return type == TokenType::kVariableEnd || type == TokenType::kBlockEnd || is_operator(")") || (!end_name.empty() && is_name(end_name));
}

ExprPtr Parser::parse_tuple(bool with_conditional, bool may_be_empty, std::string_view end_name) {
  ExprPtr tuple = make(ExprKind::kTuple, current().offset);
  bool has_comma = false;
  while (true) {
    if (!tuple->operands.empty()) expect_operator(",");
    if (at_tuple_end(end_name)) break;
    tuple->operands.push_back(parse_expression(with_conditional));
    if (!is_operator(",")) break;
    has_comma = true;
  }
  if (!has_comma) {
    if (!tuple->operands.empty()) return std::move(tuple->operands[0]);
    if (!may_be_empty) fail_at_current(fmt::format("Expected an expression, got '{}'", describe(current())));
  }
  return finish(std::move(tuple));
}

}  // namespace teapot::text::jinja
