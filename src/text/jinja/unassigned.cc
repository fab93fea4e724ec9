#include "text/jinja/unassigned.h"

#include <array>
#include <map>
#include <set>

namespace teapot::text::jinja {
namespace {

enum class Source : uint8_t {
  kParameter,
  kContext,     // looked up when the scope is entered
  kOuter,       // begins as what a scope around has
  kUnassigned,  // begins as undefined
};

// The names of one scope, or, on top of `base`, what one branch of an if adds to them.
class Symbols {
 public:
  Symbols(const Symbols* around, const Symbols* base) : around_(around), base_(base) {}

  void parameter(NameId name) {
    stores_.insert(name);
    sources_[name] = Source::kParameter;
  }

  void load(NameId name) {
    if (!has(name) && !is_around(name)) sources_[name] = Source::kContext;
  }

  void store(NameId name) {
    stores_.insert(name);
    if (!has(name)) sources_[name] = is_around(name) ? Source::kOuter : Source::kUnassigned;
  }

  // A name that not every branch sets begins as if it were only read.
  void join(const std::array<const Symbols*, 3>& branches) {
    std::map<NameId, size_t> stores;
    for (const Symbols* branch : branches) {
      for (const NameId name : branch->stores_) {
        if (!stores_here(name)) ++stores[name];
      }
    }
    for (const Symbols* branch : branches) {
      for (const auto& [name, source] : branch->sources_) sources_[name] = source;
      stores_.insert(branch->stores_.begin(), branch->stores_.end());
    }
    for (const auto& [name, count] : stores) {
      if (count < branches.size()) sources_[name] = is_around(name) ? Source::kOuter : Source::kContext;
    }
  }

  Symbols branch() const { return {around_, this}; }

  std::vector<NameId> unassigned() const {
    std::vector<NameId> names;
    for (const auto& [name, source] : sources_) {
      if (source == Source::kUnassigned) names.push_back(name);
    }
    return names;
  }

 private:
  bool has(NameId name) const {
    for (const Symbols* s = this; s != nullptr; s = s->base_) {
      if (s->sources_.contains(name)) return true;
    }
    return false;
  }
  bool stores_here(NameId name) const {
    for (const Symbols* s = this; s != nullptr; s = s->base_) {
      if (s->stores_.contains(name)) return true;
    }
    return false;
  }
  bool is_around(NameId name) const {
    for (const Symbols* s = around_; s != nullptr; s = s->around_) {
      if (s->has(name)) return true;
    }
    return false;
  }

  const Symbols* around_;
  const Symbols* base_;
  std::map<NameId, Source> sources_;
  std::set<NameId> stores_;
};

void load(const Expr& expr, Symbols& symbols) {
  if (expr.kind == ExprKind::kName || expr.kind == ExprKind::kNamespaceField) symbols.load(expr.variable);
  const auto load_child = [&](const ExprPtr& child) {
    if (child) load(*child, symbols);
  };
  for (const ExprPtr& operand : expr.operands) load_child(operand);
  for (const KeywordExpr& keyword : expr.keywords) load_child(keyword.value);
  load_child(expr.spread);
  load_child(expr.keyword_spread);
}

void store(const Expr& target, Symbols& symbols, bool as_parameter) {
  if (target.kind == ExprKind::kNamespaceField) {
    symbols.load(target.variable);
  } else if (target.kind == ExprKind::kName) {
    as_parameter ? symbols.parameter(target.variable) : symbols.store(target.variable);
  }
  for (const ExprPtr& item : target.operands) store(*item, symbols, as_parameter);
}

void collect(const Body& body, Symbols& symbols);

// As Jinja sees it: the first branch, all elifs one after the other, the else.
void collect_if(const Stmt& stmt, Symbols& symbols) {
  if (!stmt.branches[0].first) return collect(stmt.branches[0].body, symbols);  // {% print %}
  load(*stmt.branches[0].first, symbols);
  Symbols first = symbols.branch();
  collect(stmt.branches[0].body, first);
  Symbols middle = symbols.branch();
  Symbols last = symbols.branch();
  for (const Branch& branch : std::span(stmt.branches).subspan(1)) {
    if (!branch.first) {
      collect(branch.body, last);
      continue;
    }
    load(*branch.first, middle);
    Symbols body = middle.branch();
    collect(branch.body, body);
    const Symbols nothing = middle.branch();
    middle.join({&body, &nothing, &nothing});
  }
  symbols.join({&first, &middle, &last});
}

// What the statements of one scope load and store there, in order; scopes inside are not entered.
void collect(const Body& body, Symbols& symbols) {
  for (const Stmt& stmt : body) {
    switch (stmt.kind) {
      case StmtKind::kIf:
        collect_if(stmt, symbols);
        break;
      case StmtKind::kMacro:
        symbols.store(stmt.variable);
        break;
      case StmtKind::kWith:
        for (const Branch& assignment : stmt.branches) load(*assignment.value, symbols);
        break;
      default:
        if (stmt.value) load(*stmt.value, symbols);
        if (stmt.filter && stmt.kind != StmtKind::kFor) load(*stmt.filter, symbols);
        if (stmt.target && stmt.kind != StmtKind::kFor) store(*stmt.target, symbols, false);
        break;
    }
  }
}

void enter_scopes(Body& body, const Symbols& around);

std::vector<NameId> analyze(Body& body, Symbols& symbols) {
  collect(body, symbols);
  enter_scopes(body, symbols);
  return symbols.unassigned();
}

void analyze_macro(MacroDefinition& macro, const Symbols& around) {
  Symbols symbols(&around, nullptr);
  for (const Parameter& parameter : macro.parameters) symbols.parameter(parameter.variable);
  for (const Parameter& parameter : macro.parameters) {
    if (parameter.fallback) load(*parameter.fallback, symbols);
  }
  macro.unassigned = analyze(macro.body, symbols);
}

void enter_scopes(Body& body, const Symbols& around) {
  for (Stmt& stmt : body) {
    if (stmt.kind == StmtKind::kIf) {
      for (Branch& branch : stmt.branches) enter_scopes(branch.body, around);
      continue;
    }
    if (stmt.macro) {
      analyze_macro(*stmt.macro, around);
      continue;
    }
    Symbols symbols(stmt.sees_outer ? &around : nullptr, nullptr);
    if (stmt.kind == StmtKind::kFor) store(*stmt.target, symbols, true);
    if (stmt.kind == StmtKind::kWith) {
      for (const Branch& assignment : stmt.branches) store(*assignment.first, symbols, true);
    }
    if (stmt.kind == StmtKind::kFilter) load(*stmt.filter, symbols);
    stmt.unassigned = analyze(stmt.body, symbols);
    Symbols otherwise(&around, nullptr);
    stmt.else_unassigned = analyze(stmt.else_body, otherwise);
  }
}

}  // namespace

void find_unassigned(Program& program) {
  Symbols symbols(nullptr, nullptr);
  program.unassigned = analyze(program.body, symbols);
}

}  // namespace teapot::text::jinja
