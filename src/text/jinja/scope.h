// Variables: a chain of scopes, innermost first. What is in none of them is looked up in the context.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/value.h"

namespace teapot::text::jinja {

struct Binding {
  NameId variable;
  Value value;
};

struct Scope {
  Scope* parent = nullptr;
  std::span<Binding> bindings{};  // room for more than size
  uint32_t size = 0;
  bool captured = false;  // a macro was made here: it may look at this scope after it has been left
};

// A macro sees the variables around its definition as they are when it is called.
struct Macro {
  const MacroDefinition* definition;
  Scope* scope;
};

void assign(Heap& heap, Scope& scope, NameId variable, const Value& value);
const Value* find_in_scopes(const Scope* scope, NameId variable);

// Marks the scope and all around it.
void capture(Scope* scope);

}  // namespace teapot::text::jinja
