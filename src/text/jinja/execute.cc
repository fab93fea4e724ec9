#include "text/jinja/context.h"
#include "text/jinja/globals.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {

std::string Interpreter::run(const Json& context) {
  bind_context(context);
  std::string text;
  out_ = &text;
  scope_ = new_scope(nullptr, program_.unassigned);
  execute(program_.body);
  return text;
}

// Only what the template names is looked at: the rest of the context may be large.
void Interpreter::bind_context(const Json& context) {
  context_.reserve(program_.names.size());
  for (const std::string_view name : program_.names) {
    const auto found = context.find(name);
    if (found != context.end()) {
      context_.emplace_back(to_value(heap_, *found));
    } else if (const Function* function = find_global(name)) {
      context_.emplace_back(Value::of(function));
    } else {
      context_.emplace_back();
    }
  }
}

void Interpreter::write(std::string_view text) {
  heap_.step_over(text);
  if (text.size() > max_output_bytes_ - std::min(out_->size(), max_output_bytes_)) {
    raise(TemplateErrorKind::kBudget, "the template's output is longer than {} bytes", max_output_bytes_);
  }
  *out_ += text;
}

Interpreter::Flow Interpreter::execute(const Body& body) {
  const Descent descent(*this);
  for (const Stmt& stmt : body) {
    if (const Flow flow = execute(stmt); flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::execute(const Stmt& stmt) {
  heap_.step();
  where_ = stmt.offset;
  switch (stmt.kind) {
    case StmtKind::kText:
      write(stmt.text);
      break;
    case StmtKind::kOutput: {
      const Value value = evaluate(*stmt.value);
      where_ = stmt.offset;
      write(to_plain_text(heap_, value));
      break;
    }
    case StmtKind::kIf:
      return execute_if(stmt);
    case StmtKind::kFor:
      return execute_for(stmt);
    case StmtKind::kSet:
      assign_target(*stmt.target, evaluate(*stmt.value));
      break;
    case StmtKind::kSetBlock:
      return execute_set_block(stmt);
    case StmtKind::kMacro:
      capture(scope_);
      assign(heap_, *scope_, stmt.variable, Value::of(heap_.make(Macro{stmt.macro.get(), scope_})));
      break;
    case StmtKind::kCall:
      execute_call_block(stmt);
      break;
    case StmtKind::kFilter:
      return execute_filter_block(stmt);
    case StmtKind::kWith:
      return execute_with(stmt);
    case StmtKind::kScope:
      return execute_in_scope(stmt.body, stmt.unassigned);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
    case StmtKind::kRefused:
      raise_runtime("{}", stmt.text);
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::execute_if(const Stmt& stmt) {
  for (const Branch& branch : stmt.branches) {
    if (!branch.first || truth(evaluate(*branch.first))) return execute(branch.body);
  }
  return Flow::kNormal;
}

Value Interpreter::undefined_variable(NameId variable) {
  return new_undefined(heap_, {Undefined::Reason::kVariable, Value(), Value::text(program_.names[variable]), {}});
}

void Interpreter::hide(Scope& scope, const std::vector<NameId>& unassigned) {
  for (const NameId variable : unassigned) assign(heap_, scope, variable, undefined_variable(variable));
}

Scope* Interpreter::new_scope(Scope* parent, const std::vector<NameId>& unassigned) {
  Scope* const scope = new_scope(parent);
  hide(*scope, unassigned);
  return scope;
}

Interpreter::Flow Interpreter::execute_in_scope(const Body& body, const std::vector<NameId>& unassigned) {
  Scope* const outer = std::exchange(scope_, new_scope(scope_, unassigned));
  const Flow flow = execute(body);
  scope_ = outer;
  return flow;
}

Interpreter::Flow Interpreter::execute_with(const Stmt& stmt) {
  // All values are computed outside, before the first of the names exists.
  std::vector<Value> values;
  values.reserve(stmt.branches.size());
  for (const Branch& assignment : stmt.branches) values.push_back(evaluate(*assignment.value));
  Scope* const outer = std::exchange(scope_, new_scope(scope_, stmt.unassigned));
  for (size_t i = 0; i < values.size(); ++i) assign_target(*stmt.branches[i].first, values[i]);
  const Flow flow = execute(stmt.body);
  scope_ = outer;
  return flow;
}

Interpreter::Flow Interpreter::capture_body(const Stmt& stmt, Value& text) {
  std::string captured;
  std::string* const outer = std::exchange(out_, &captured);
  const Flow flow = execute_in_scope(stmt.body, stmt.unassigned);
  out_ = outer;
  text = new_text(heap_, captured);
  return flow;
}

// A break or continue inside leaves the block before it has a value.
Interpreter::Flow Interpreter::execute_set_block(const Stmt& stmt) {
  Value text;
  if (const Flow flow = capture_body(stmt, text); flow != Flow::kNormal) return flow;
  assign_target(*stmt.target, stmt.filter ? evaluate_filter(*stmt.filter, &text) : text);
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::execute_filter_block(const Stmt& stmt) {
  Value text;
  if (const Flow flow = capture_body(stmt, text); flow != Flow::kNormal) return flow;
  const Value filtered = evaluate_filter(*stmt.filter, &text);
  if (!filtered.is_text()) raise_runtime("a filter block must end in text, its filter gave '{}'", type_name(filtered));
  write(filtered.as_text());
  return Flow::kNormal;
}

void Interpreter::execute_call_block(const Stmt& stmt) {
  capture(scope_);
  const Value callee = evaluate(*stmt.value->operands[0]);
  Arguments arguments = evaluate_arguments(*stmt.value, 1);
  for (const auto& keyword : arguments.keywords) {
    if (keyword.name == "caller") raise_runtime("a call block gives the caller itself");
  }
  arguments.keywords.push_back({"caller", Value::of(heap_.make(Macro{stmt.macro.get(), scope_}))});
  where_ = stmt.offset;
  write(to_plain_text(heap_, call(callee, arguments)));
}

class Interpreter::ConditionOfLoop final : public ItemFilter {
 public:
  ConditionOfLoop(Interpreter& interpreter, const Stmt& stmt, Scope* outer) : interpreter_(interpreter), stmt_(stmt), outer_(outer) {}

  bool keeps(const Value& item) override {
    Scope* const current = std::exchange(interpreter_.scope_, interpreter_.new_scope(outer_));
    interpreter_.assign_target(*stmt_.target, item);
    const bool keep = truth(interpreter_.evaluate(*stmt_.filter));
    interpreter_.scope_ = current;
    return keep;
  }

 private:
  Interpreter& interpreter_;
  const Stmt& stmt_;
  Scope* outer_;
};

Interpreter::Flow Interpreter::execute_for(const Stmt& stmt) {
  const Value items = evaluate(*stmt.value);
  where_ = stmt.offset;
  return run_loop(stmt, items, 0, scope_);
}

Interpreter::Flow Interpreter::run_loop(const Stmt& stmt, const Value& items, int64_t depth0, Scope* outer) {
  const Descent descent(*this);
  ConditionOfLoop condition(*this, stmt, outer);
  ItemFilter* const filter = stmt.filter ? &condition : nullptr;
  Loop* const loop = heap_.make(Loop{.walk = Walk(heap_, items),
                                     .filter = filter,
                                     .recursive = stmt.recursive ? &stmt : nullptr,
                                     .scope = outer,
                                     .whole = items,
                                     .depth0 = depth0});
  const auto loop_id = program_.name_ids.find("loop");
  Scope* const before = scope_;
  Scope* scope = nullptr;
  bool completed = false;  // whether some item's body ran to its end: otherwise the else part runs, Jinja's way
  while (const auto item = loop->advance()) {
    if (scope == nullptr || scope->captured) {
      scope = new_scope(outer);
    } else {
      scope->size = 0;
    }
    hide(*scope, stmt.unassigned);
    scope_ = scope;
    if (loop_id != program_.name_ids.end()) assign(heap_, *scope, loop_id->second, Value::of(loop));
    where_ = stmt.target->offset;
    assign_target(*stmt.target, *item);
    const Flow flow = execute(stmt.body);
    if (flow == Flow::kBreak) break;
    completed |= flow == Flow::kNormal;
  }
  loop->finish();
  Flow flow = Flow::kNormal;
  if (!completed && !stmt.else_body.empty()) {
    scope_ = outer;
    flow = execute_in_scope(stmt.else_body, stmt.else_unassigned);
  }
  scope_ = before;
  return flow;
}

void Interpreter::assign_target(const Expr& target, const Value& value) {
  if (target.kind == ExprKind::kName) return assign(heap_, *scope_, target.variable, value);
  where_ = target.offset;
  if (target.kind == ExprKind::kTuple) {
    const std::vector<Value> items = to_items(heap_, value);
    const size_t wanted = target.operands.size();
    if (items.size() > wanted) raise_runtime("too many values to unpack (expected {})", wanted);
    if (items.size() < wanted) raise_runtime("not enough values to unpack (expected {}, got {})", wanted, items.size());
    for (size_t i = 0; i < wanted; ++i) assign_target(*target.operands[i], items[i]);
    return;
  }
  const Value space = evaluate_name(target);
  if (!space.is(Type::kNamespace)) raise_runtime("cannot assign attribute on non-namespace object");
  set(heap_, space.as_namespace(), target.text, value);
}

}  // namespace teapot::text::jinja
