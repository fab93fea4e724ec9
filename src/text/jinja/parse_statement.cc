#include <algorithm>

#include "text/jinja/failure.h"
#include "text/jinja/parser.h"
#include "text/jinja/parser_impl.h"
#include "text/jinja/unassigned.h"

namespace teapot::text::jinja {

std::shared_ptr<const Program> parse_program(std::string_view source) {
  auto program = std::make_shared<Program>();
  program->source = normalize_source(source);
  Parser(*program).parse();
  find_unassigned(*program);
  return program;
}

void Parser::parse() { program_.body = parse_body({}, {}, 0); }

void Parser::refuse_tag(std::initializer_list<std::string_view> end_tags, std::string_view opener, uint32_t opener_offset) const {
  std::string wanted;
  for (const std::string_view tag : end_tags) wanted += fmt::format("{}'{}'", wanted.empty() ? "" : " or ", tag);
  const std::string help =
      opener.empty()
          ? ""
          : fmt::format(" Jinja was looking for the following tags: {}. The innermost block that needs to be closed is '{}', at line {}.",
                        wanted, opener, 1 + std::count(program_.source.begin(), program_.source.begin() + opener_offset, '\n'));
  if (current().type == TokenType::kEnd) fail_at_current("Unexpected end of template." + help);
  if (current().type != TokenType::kName) fail_at_current("tag name expected");
  fail_at_current(fmt::format("Encountered unknown tag '{}'.{}", current().text, help));
}

// Up to one of the end tags, whose name is then the current token; to the template's end if there are none.
Body Parser::parse_body(std::initializer_list<std::string_view> end_tags, std::string_view opener, uint32_t opener_offset) {
  const Nested nested(*this);
  Body body;
  while (current().type != TokenType::kEnd) {
    const Token& token = take();
    if (token.type == TokenType::kData) {
      Stmt& text = body.emplace_back(StmtKind::kText, token.offset);
      text.text = token.text;
    } else if (token.type == TokenType::kVariableBegin) {
      Stmt output{StmtKind::kOutput, token.offset};
      output.value = parse_tuple(true, false);
      expect(TokenType::kVariableEnd, "end of print statement");
      body.push_back(std::move(output));
    } else {
      if (std::ranges::any_of(end_tags, [&](std::string_view tag) { return is_name(tag); })) return body;
      const size_t tag_at = at_;
      Stmt statement = parse_statement();
      if (at_ == tag_at) refuse_tag(end_tags, opener, opener_offset);
      end_tag();
      body.push_back(std::move(statement));
    }
  }
  if (end_tags.size() > 0) refuse_tag(end_tags, opener, opener_offset);
  return body;
}

void Parser::end_tag() { expect(TokenType::kBlockEnd, "end of statement block"); }

Body Parser::parse_closed_body(std::string_view end, std::string_view opener, uint32_t opener_offset) {
  skip_operator(":");
  end_tag();
  Body body = parse_body({end}, opener, opener_offset);
  take();
  return body;
}

// The statement up to, but without, the end of its (last) tag. Takes nothing if there is no such tag.
Stmt Parser::parse_statement() {
  const Token& token = current();
  const uint32_t offset = token.offset;
  if (token.type != TokenType::kName) fail_at_current("tag name expected");
  const auto is = [&](std::string_view tag) {
    if (token.text != tag) return false;
    take();
    return true;
  };
  if (is("if")) return parse_if(offset);
  if (is("for")) return parse_for(offset);
  if (is("set")) return parse_set(offset);
  if (is("macro")) return parse_macro(offset);
  if (is("call")) return parse_call_block(offset);
  if (is("filter")) return parse_filter_block(offset);
  if (is("with")) return parse_with(offset);
  if (is("block")) return parse_block(offset);
  if (is("generation")) return parse_generation(offset);
  if (is("print")) return parse_print(offset);
  if (is("break")) return parse_loop_control(offset, StmtKind::kBreak, "break");
  if (is("continue")) return parse_loop_control(offset, StmtKind::kContinue, "continue");
  if (is("include") || is("import") || is("from") || is("extends"))
    return parse_refused(offset, "a chat template stands alone: there is no loader for other templates");
  if (is("autoescape")) raise_syntax_at(offset, "autoescape is not supported: chat templates are plain text");
  return Stmt{StmtKind::kRefused};
}

Stmt Parser::parse_if(uint32_t offset) {
  const Swapped conditional(conditional_, true);
  Stmt stmt{StmtKind::kIf, offset};
  bool is_else = false;
  while (true) {
    Branch& branch = stmt.branches.emplace_back();
    if (!is_else) branch.first = parse_tuple(false, false);
    skip_operator(":");
    end_tag();
    branch.body = is_else ? parse_body({"endif"}, "if", offset) : parse_body({"elif", "else", "endif"}, "if", offset);
    const std::string_view tag = take().text;
    if (tag == "endif") return stmt;
    is_else = tag == "else";
  }
}

Stmt Parser::parse_for(uint32_t offset) {
  Stmt stmt{StmtKind::kFor, offset};
  stmt.target = parse_target(false, "in");
  expect_name("in");
  stmt.value = parse_tuple(false, false, "recursive");
  const Swapped unconditional(conditional_, false);
  const Swapped scope(scopes_, scopes_ + 1);
  if (skip_name("if")) stmt.filter = parse_expression();
  stmt.recursive = skip_name("recursive");
  skip_operator(":");
  end_tag();
  {
    const Swapped in_loop(loops_, loops_ + 1);
    stmt.body = parse_body({"endfor", "else"}, "for", offset);
  }
  if (take().text == "else") {
    // The loop's else belongs to what is around it: a break there leaves the outer loop, unless this one is a function of its own.
    const Swapped outer(loops_, stmt.recursive ? 0 : loops_);
    stmt.else_body = parse_closed_body("endfor", "for", offset);
  }
  return stmt;
}

Stmt Parser::parse_set(uint32_t offset) {
  Stmt stmt{StmtKind::kSet, offset};
  stmt.target = parse_target(true);
  if (skip_operator("=")) {
    stmt.value = parse_tuple(true, false);
    return stmt;
  }
  stmt.kind = StmtKind::kSetBlock;
  if (is_operator("|")) stmt.filter = parse_filter_chain(nullptr, false);
  const Swapped unconditional(conditional_, false);
  const Swapped scope(scopes_, scopes_ + 1);
  stmt.body = parse_closed_body("endset", "set", offset);
  return stmt;
}

void Parser::parse_signature(MacroDefinition& macro) {
  expect_operator("(");
  while (!is_operator(")")) {
    if (!macro.parameters.empty()) expect_operator(",");
    if (current().type != TokenType::kName) fail_at_current(fmt::format("expected token 'name', got '{}'", describe(current())));
    const std::string_view name = take().text;
    Parameter& parameter = macro.parameters.emplace_back(intern(name), name);
    if (skip_operator("=")) {
      parameter.fallback = parse_expression();
    } else if (macro.parameters.size() > 1 && macro.parameters[macro.parameters.size() - 2].fallback) {
      fail_at_current("non-default argument follows default argument");
    }
  }
  expect_operator(")");
}

Body Parser::parse_macro_body(MacroDefinition& macro, std::string_view end, std::string_view opener, uint32_t opener_offset) {
  const Swapped unconditional(conditional_, false);
  const Swapped function(loops_, 0);
  const Swapped scope(scopes_, scopes_ + 1);
  macros_.push_back(&macro);
  Body body = parse_closed_body(end, opener, opener_offset);
  macros_.pop_back();
  return body;
}

Stmt Parser::parse_macro(uint32_t offset) {
  Stmt stmt{StmtKind::kMacro, offset};
  if (current().type != TokenType::kName) fail_at_current(fmt::format("expected token 'name', got '{}'", describe(current())));
  stmt.macro = std::make_unique<MacroDefinition>();
  stmt.macro->name = take().text;
  stmt.variable = intern(stmt.macro->name);
  parse_signature(*stmt.macro);
  stmt.macro->body = parse_macro_body(*stmt.macro, "endmacro", "macro", offset);
  return stmt;
}

Stmt Parser::parse_call_block(uint32_t offset) {
  Stmt stmt{StmtKind::kCall, offset};
  stmt.macro = std::make_unique<MacroDefinition>();
  stmt.macro->name = "caller";
  if (is_operator("(")) parse_signature(*stmt.macro);
  stmt.value = parse_expression();
  if (stmt.value->kind != ExprKind::kCall) raise_syntax_at(stmt.value->offset, "expected call");
  stmt.macro->body = parse_macro_body(*stmt.macro, "endcall", "call", offset);
  return stmt;
}

Stmt Parser::parse_filter_block(uint32_t offset) {
  Stmt stmt{StmtKind::kFilter, offset};
  stmt.filter = parse_filter_chain(nullptr, true);
  const Swapped unconditional(conditional_, false);
  const Swapped scope(scopes_, scopes_ + 1);
  stmt.body = parse_closed_body("endfilter", "filter", offset);
  return stmt;
}

Stmt Parser::parse_with(uint32_t offset) {
  Stmt stmt{StmtKind::kWith, offset};
  while (current().type != TokenType::kBlockEnd) {
    if (!stmt.branches.empty()) expect_operator(",");
    Branch& assignment = stmt.branches.emplace_back();
    assignment.first = parse_target(false);
    expect_operator("=");
    assignment.value = parse_expression();
  }
  const Swapped unconditional(conditional_, false);
  const Swapped scope(scopes_, scopes_ + 1);
  stmt.body = parse_closed_body("endwith", "with", offset);
  return stmt;
}

Stmt Parser::parse_block(uint32_t offset) {
  Stmt stmt{StmtKind::kScope, offset};
  if (current().type != TokenType::kName) fail_at_current(fmt::format("expected token 'name', got '{}'", describe(current())));
  const std::string_view name = take().text;
  // A block further in would not see the variables around it.
  if (scopes_ > 0) raise_syntax_at(offset, "block '{}' inside a loop, macro or other scope is not supported", name);
  if (std::ranges::find(blocks_, name) != blocks_.end()) raise_syntax_at(offset, "block '{}' defined twice", name);
  blocks_.push_back(name);
  stmt.sees_outer = false;
  skip_name("scoped");
  if (is_name("required")) fail_at_current("a required block needs a template that fills it, and there are no others");
  const Swapped unconditional(conditional_, false);
  const Swapped function(loops_, 0);
  const Swapped scope(scopes_, scopes_ + 1);
  stmt.body = parse_closed_body("endblock", "block", offset);
  skip_name(name);
  return stmt;
}

Stmt Parser::parse_generation(uint32_t offset) {
  Stmt stmt{StmtKind::kScope, offset};
  const Swapped unconditional(conditional_, false);
  const Swapped function(loops_, 0);  // it is called like a macro, so a loop around cannot be left from inside
  const Swapped scope(scopes_, scopes_ + 1);
  stmt.body = parse_closed_body("endgeneration", "generation", offset);
  return stmt;
}

Stmt Parser::parse_print(uint32_t offset) {
  Stmt stmt{StmtKind::kIf, offset};  // one branch without a condition: its body are the outputs
  Branch& branch = stmt.branches.emplace_back();
  while (current().type != TokenType::kBlockEnd) {
    if (!branch.body.empty()) expect_operator(",");
    Stmt& output = branch.body.emplace_back(StmtKind::kOutput, current().offset);
    output.value = parse_expression();
  }
  return stmt;
}

Stmt Parser::parse_loop_control(uint32_t offset, StmtKind kind, std::string_view name) {
  if (loops_ == 0) raise_syntax_at(offset, "'{}' outside loop", name);
  return Stmt{kind, offset};
}

Stmt Parser::parse_refused(uint32_t offset, std::string_view why) {
  Stmt stmt{StmtKind::kRefused, offset};
  stmt.text = why;
  while (current().type != TokenType::kBlockEnd && current().type != TokenType::kEnd) take();
  return stmt;
}

ExprPtr Parser::parse_target_item(bool with_fields) {
  if (with_fields && current().type == TokenType::kName && ahead().type == TokenType::kOperator && ahead().text == ".") {
    const Token& space = take();
    take();
    if (current().type != TokenType::kName) fail_at_current(fmt::format("expected token 'name', got '{}'", describe(current())));
    ExprPtr expr = make(ExprKind::kNamespaceField, space.offset);
    expr->variable = intern(space.text);
    expr->text = take().text;
    return expr;
  }
  if (!is_operator("(")) return parse_primary();
  const Nested nested(*this);
  take();
  ExprPtr expr = parse_tuple(true, true);
  expect_operator(")");
  return expr;
}

namespace {

void require_assignable(const Expr& target) {
  constexpr auto kind_name = [](ExprKind kind) -> std::string_view {
    switch (kind) {
      case ExprKind::kLiteral:
        return "const";
      case ExprKind::kList:
        return "list";
      case ExprKind::kDict:
        return "dict";
      default:
        return "expression";
    }
  };
  if (target.kind == ExprKind::kName || target.kind == ExprKind::kNamespaceField) return;
  if (target.kind != ExprKind::kTuple) raise_syntax_at(target.offset, "can't assign to '{}'", kind_name(target.kind));
  for (const ExprPtr& item : target.operands) require_assignable(*item);
}

}  // namespace

ExprPtr Parser::parse_target(bool with_fields, std::string_view end_name) {
  ExprPtr tuple = make(ExprKind::kTuple, current().offset);
  bool has_comma = false;
  while (true) {
    if (!tuple->operands.empty()) expect_operator(",");
    if (at_tuple_end(end_name)) break;
    tuple->operands.push_back(parse_target_item(with_fields));
    if (!is_operator(",")) break;
    has_comma = true;
  }
  if (tuple->operands.empty()) fail_at_current(fmt::format("Expected an expression, got '{}'", describe(current())));
  ExprPtr target = has_comma ? finish(std::move(tuple)) : std::move(tuple->operands[0]);
  require_assignable(*target);
  // Inside a loop, and as a loop's own variable, `loop` is taken.
  const auto is_loop = [&](const Expr& item) { return item.kind == ExprKind::kName && program_.names[item.variable] == "loop"; };
  if ((loops_ > 0 || end_name == "in") &&
      (is_loop(*target) || std::ranges::any_of(target->operands, [&](const ExprPtr& item) { return is_loop(*item); }))) {
    raise_syntax_at(target->offset, "can't assign to the special loop variable");
  }
  return target;
}

}  // namespace teapot::text::jinja
