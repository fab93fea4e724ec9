// The two halves of the parser share this class: expressions in parse_expression.cc, statements in parse_statement.cc.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace teapot::text::jinja {

class Parser {
 public:
  explicit Parser(Program& program) : program_(program), tokens_(tokenize(program.source)) {}

  void parse();

 private:
  // Recursion of the parser, and with it the nesting of statements and brackets; Expr::depth bounds chains like a+b+c too.
  static constexpr int kMaxNesting = 200;
  static constexpr uint32_t kMaxDepth = 400;

  class Nested {
   public:
    explicit Nested(Parser& parser);
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_operator(std::string_view text) const { return current().type == TokenType::kOperator && current().text == text; }
  bool is_name(std::string_view text) const { return current().type == TokenType::kName && current().text == text; }
  bool skip_operator(std::string_view text);
  bool skip_name(std::string_view text);
  void expect_operator(std::string_view text);
  void expect_name(std::string_view text);
  void expect(TokenType type, std::string_view what);
  [[noreturn]] void fail_at_current(const std::string& message) const;

  NameId intern(std::string_view name);
  std::string_view keep(std::string text);
  static ExprPtr make(ExprKind kind, uint32_t offset);
  // Sets the depth from the operands and refuses what is too deep. Every expression passes here once it is complete.
  ExprPtr finish(ExprPtr expr) const;
  ExprPtr make_literal(uint32_t offset, const Value& value) const;

  // parse_expression.cc, loosest binding first
  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_primary();
  ExprPtr parse_name_or_constant();
  ExprPtr parse_number();
  ExprPtr parse_texts();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  // Items between commas; one item without a comma is that item. may_be_empty: "()" is a tuple, "" is not.
  ExprPtr parse_tuple(bool with_conditional, bool may_be_empty, std::string_view end_name = {});
  bool at_tuple_end(std::string_view end_name) const;
  ExprPtr parse_postfix(ExprPtr expr);
  ExprPtr parse_filters_and_tests(ExprPtr expr);
  ExprPtr parse_attribute(ExprPtr object);
  ExprPtr parse_subscript(ExprPtr object);
  ExprPtr parse_subscript_item(ExprPtr object);
  ExprPtr parse_call(ExprPtr callee);
  void parse_arguments(Expr& call);
  ExprPtr parse_filter_chain(ExprPtr input, bool first_without_pipe);
  ExprPtr parse_test(ExprPtr input);
  std::string_view parse_dotted_name();

  // parse_statement.cc
  Body parse_body(std::initializer_list<std::string_view> end_tags, std::string_view opener, uint32_t opener_offset);
  [[noreturn]] void refuse_tag(std::initializer_list<std::string_view> end_tags, std::string_view opener, uint32_t opener_offset) const;
  Stmt parse_statement();
  Stmt parse_if(uint32_t offset);
  Stmt parse_for(uint32_t offset);
  Stmt parse_set(uint32_t offset);
  Stmt parse_macro(uint32_t offset);
  Stmt parse_call_block(uint32_t offset);
  Stmt parse_filter_block(uint32_t offset);
  Stmt parse_with(uint32_t offset);
  Stmt parse_block(uint32_t offset);
  Stmt parse_generation(uint32_t offset);
  Stmt parse_print(uint32_t offset);
  Stmt parse_loop_control(uint32_t offset, StmtKind kind, std::string_view name);
  Stmt parse_refused(uint32_t offset, std::string_view why);
  void parse_signature(MacroDefinition& macro);
  Body parse_macro_body(MacroDefinition& macro, std::string_view end_tag, std::string_view opener, uint32_t opener_offset);
  // A body that ends in one tag, which is taken with what closes it.
  Body parse_closed_body(std::string_view end_tag, std::string_view opener, uint32_t opener_offset);
  ExprPtr parse_target(bool with_fields, std::string_view end_name = {});
  ExprPtr parse_target_item(bool with_fields);
  void end_tag();

  Program& program_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  // An unknown filter is an error, unless it stands where it may never be reached: directly in an if, not in a scope within.
  bool conditional_ = false;
  int loops_ = 0;                         // open loops in the current function: what break and continue need
  int scopes_ = 0;                        // open scopes: blocks of templates that inherit need to stand outside of all
  std::vector<MacroDefinition*> macros_;  // that we are in
  std::vector<std::string_view> blocks_;  // names taken
};

// For the time of an object, a member has another value.
template <class T>
class Swapped {
 public:
  Swapped(T& member, T value) : member_(member), old_(member) { member_ = value; }
  ~Swapped() { member_ = old_; }
  Swapped(const Swapped&) = delete;
  Swapped& operator=(const Swapped&) = delete;

 private:
  T& member_;
  T old_;
};

}  // namespace teapot::text::jinja
