#include "text/jinja/scope.h"

#include <algorithm>

namespace teapot::text::jinja {

void assign(Heap& heap, Scope& scope, NameId variable, const Value& value) {
  heap.step(1 + scope.size / 8);
  for (Binding& binding : scope.bindings.first(scope.size)) {
    if (binding.variable == variable) {
      binding.value = value;
      return;
    }
  }
  if (scope.size == scope.bindings.size()) {
    std::vector<Binding> more(scope.bindings.begin(), scope.bindings.end());
    more.resize(std::max<size_t>(4, 2 * more.size()));
    scope.bindings = heap.copy(more);
  }
  scope.bindings[scope.size++] = {variable, value};
}

const Value* find_in_scopes(const Scope* scope, NameId variable) {
  for (; scope != nullptr; scope = scope->parent) {
    for (const Binding& binding : scope->bindings.first(scope->size)) {
      if (binding.variable == variable) return &binding.value;
    }
  }
  return nullptr;
}

void capture(Scope* scope) {
  for (; scope != nullptr && !scope->captured; scope = scope->parent) scope->captured = true;
}

}  // namespace teapot::text::jinja
