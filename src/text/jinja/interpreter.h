// Runs a program over a context. One interpreter is one rendering.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/jinja/ast.h"
#include "text/jinja/loop.h"
#include "text/jinja/scope.h"

namespace teapot::text::jinja {

class Interpreter {
 public:
  // program, heap and now must outlive the interpreter; max_output_bytes bounds the result.
  Interpreter(const Program& program, Heap& heap, const std::tm& now, size_t max_output_bytes)
      : program_(program), heap_(heap), now_(now), max_output_bytes_(max_output_bytes) {}

  // The context must be an object and outlive the call. Throws Failure; where() then says where it was.
  std::string run(const Json& context);
  uint32_t where() const { return where_; }

 private:
  enum class Flow : uint8_t { kNormal, kBreak, kContinue };

  // Evaluation, execution and macro calls together go so deep; each level is a few hundred bytes of stack.
  static constexpr int kMaxDescent = 1000;

  class Descent {
   public:
    explicit Descent(Interpreter& interpreter);
    ~Descent() { --interpreter_.descent_; }
    Descent(const Descent&) = delete;
    Descent& operator=(const Descent&) = delete;

   private:
    Interpreter& interpreter_;
  };
  class ConditionOfLoop;

  void bind_context(const Json& context);

  // evaluate.cc
  Value evaluate(const Expr& expr);
  Value evaluate_name(const Expr& expr);
  Value evaluate_items(const Expr& expr);
  Value evaluate_dict(const Expr& expr);
  Value evaluate_compare(const Expr& expr);
  Value evaluate_concat(const Expr& expr);
  Value evaluate_conditional(const Expr& expr);
  Value evaluate_slice(const Expr& expr);
  Value evaluate_call(const Expr& expr);
  // input: what stands before the filter, where the expression does not say (filter blocks).
  Value evaluate_filter(const Expr& expr, const Value* input);
  Value evaluate_test(const Expr& expr);
  Arguments evaluate_arguments(const Expr& expr, size_t first_operand);
  Value call(const Value& callee, const Arguments& arguments);
  Value call_macro(const Macro& macro, const Arguments& arguments);
  void bind_parameters(const MacroDefinition& macro, Scope& scope, const Arguments& arguments);

  // execute.cc
  Flow execute(const Body& body);
  Flow execute(const Stmt& stmt);
  Flow execute_if(const Stmt& stmt);
  Flow execute_with(const Stmt& stmt);
  Flow execute_for(const Stmt& stmt);
  Flow execute_set_block(const Stmt& stmt);
  Flow execute_filter_block(const Stmt& stmt);
  void execute_call_block(const Stmt& stmt);
  Flow execute_in_scope(const Body& body, const std::vector<NameId>& unassigned);
  Flow run_loop(const Stmt& stmt, const Value& items, int64_t depth0, Scope* outer);
  // Output of the body as a text, in a scope of its own.
  Flow capture_body(const Stmt& stmt, Value& text);
  void assign_target(const Expr& target, const Value& value);
  void write(std::string_view text);
  Scope* new_scope(Scope* parent) { return heap_.make(Scope{parent}); }
  Scope* new_scope(Scope* parent, const std::vector<NameId>& unassigned);
  void hide(Scope& scope, const std::vector<NameId>& unassigned);
  Value undefined_variable(NameId variable);

  const Program& program_;
  Heap& heap_;
  const std::tm& now_;
  size_t max_output_bytes_;
  std::vector<std::optional<Value>> context_;  // by NameId: of the context, else a global function
  Scope* scope_ = nullptr;
  std::string* out_ = nullptr;
  int descent_ = 0;
  uint32_t where_ = 0;
};

}  // namespace teapot::text::jinja
