#include "text/jinja/value.h"

#include <algorithm>

#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {

Value Value::real(double value) {
  Value v(Type::kFloat, int64_t{0});
  v.real_ = value;
  return v;
}

Value Value::text(std::string_view value, bool safe) {
  Value v(Type::kText, int64_t{0});
  v.text_ = value.data();
  v.size_ = value.size();
  v.safe_ = safe;
  return v;
}

int64_t Range::size() const {
  // Unsigned, because stop - start may not fit; a step is never 0.
  if (step > 0)
    return start < stop
               ? static_cast<int64_t>((static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) - 1) / static_cast<uint64_t>(step)) + 1
               : 0;
  return start > stop
             ? static_cast<int64_t>((static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) - 1) / (0 - static_cast<uint64_t>(step))) +
                   1
             : 0;
}

namespace {

uint32_t nesting(const Value& value) {
  switch (value.type()) {
    case Type::kList:
    case Type::kTuple:
      return value.as_sequence().nesting;
    case Type::kDict:
      return value.as_dict().nesting;
    case Type::kView:
      return value.as_view().nesting;
    default:
      return 0;
  }
}

uint32_t nesting_around(uint32_t deepest) {
  if (deepest >= kMaxNesting) raise(TemplateErrorKind::kBudget, "values nest deeper than {} levels", kMaxNesting);
  return deepest + 1;
}

uint32_t nesting_around(const std::vector<Value>& items) {
  uint32_t deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, nesting(item));
  return nesting_around(deepest);
}

const Sequence* make_sequence(Heap& heap, const std::vector<Value>& items, bool is_group = false) {
  heap.step(items.size());
  return heap.make(Sequence{heap.copy(items), nesting_around(items), is_group});
}

}  // namespace

Value new_list(Heap& heap, const std::vector<Value>& items) { return Value::list(make_sequence(heap, items)); }
Value new_tuple(Heap& heap, const std::vector<Value>& items) { return Value::tuple(make_sequence(heap, items)); }

Value new_group(Heap& heap, const Value& grouper, const Value& list) { return Value::tuple(make_sequence(heap, {grouper, list}, true)); }

Value new_dict(Heap& heap, const std::vector<Entry>& entries) {
  heap.step(entries.size());
  uint32_t deepest = 0;
  for (const Entry& entry : entries) deepest = std::max({deepest, nesting(entry.key), nesting(entry.value)});
  return Value::of(heap.make(Dict{heap.copy(entries), nesting_around(deepest)}));
}

Value new_view(Heap& heap, std::string_view type_name, const std::vector<Value>& items) {
  heap.step(items.size());
  return Value::of(heap.make(View{type_name, heap.copy(items), nesting_around(items)}));
}

Value new_text(Heap& heap, std::string_view text, bool safe) {
  heap.step_over(text);
  return Value::text(heap.copy(text), safe);
}

Value new_undefined(Heap& heap, Undefined undefined) { return Value::of(heap.make(undefined)); }

Value undefined_attribute(Heap& heap, const Value& object, const Value& name) {
  return new_undefined(heap, {Undefined::Reason::kAttribute, object, name, {}});
}

Value undefined_hint(Heap& heap, std::string_view message) {
  return new_undefined(heap, {Undefined::Reason::kHint, Value(), Value(), message});
}

Value new_iterator(Heap& heap, const std::vector<Value>& items, std::string_view type_name) {
  heap.step(items.size());
  return Value::of(heap.make(Iterator{type_name, heap.copy(items)}));
}

std::string_view type_name(const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
      return "Undefined";
    case Type::kNone:
      return "NoneType";
    case Type::kBool:
      return "bool";
    case Type::kInt:
      return "int";
    case Type::kFloat:
      return "float";
    case Type::kText:
      return value.safe() ? "Markup" : "str";
    case Type::kList:
      return "list";
    case Type::kTuple:
      return "tuple";
    case Type::kDict:
      return "dict";
    case Type::kRange:
      return "range";
    case Type::kView:
      return value.as_view().type_name;
    case Type::kIterator:
      return value.as_iterator().type_name;
    case Type::kNamespace:
      return "Namespace";
    case Type::kMacro:
      return "Macro";
    case Type::kFunction:
      return "function";
    case Type::kMethod:
      return "builtin_function_or_method";
    case Type::kLoop:
      return "LoopContext";
    case Type::kJoiner:
      return "Joiner";
    case Type::kCycler:
      return "Cycler";
  }
  return "";
}

bool truth(const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
    case Type::kNone:
      return false;
    case Type::kBool:
    case Type::kInt:
      return value.as_integer() != 0;
    case Type::kFloat:
      return value.as_real() != 0;
    case Type::kText:
      return !value.as_text().empty();
    case Type::kList:
    case Type::kTuple:
      return !value.as_sequence().items.empty();
    case Type::kDict:
      return !value.as_dict().entries.empty();
    case Type::kRange:
      return value.as_range().size() != 0;
    case Type::kView:
      return !value.as_view().items.empty();
    default:
      return true;
  }
}

std::string undefined_message(const Undefined& undefined) {
  using Reason = Undefined::Reason;
  // As Jinja names them: a wrong attribute is quoted, a wrong index is not.
  const std::string owner = undefined.object.is_none() ? "None" : fmt::format("{} object", type_name(undefined.object));
  switch (undefined.reason) {
    case Reason::kVariable:
      return fmt::format("'{}' is undefined", undefined.name.as_text());
    case Reason::kParameter:
      return fmt::format("parameter '{}' was not provided", undefined.name.as_text());
    case Reason::kUnsafe:
      return fmt::format("access to attribute '{}' of '{}' object is unsafe.", undefined.name.as_text(), type_name(undefined.object));
    case Reason::kHint:
      return std::string(undefined.hint);
    case Reason::kAttribute:
      break;
  }
  if (undefined.name.is_text()) return fmt::format("'{}' has no attribute '{}'", owner, undefined.name.as_text());
  if (undefined.name.is_integral()) return fmt::format("{} has no element {}", owner, undefined.name.as_integer());
  return fmt::format("{} has no such element", owner);
}

void raise_undefined(const Value& value) {
  const Undefined& undefined = value.as_undefined();
  const bool unsafe = undefined.reason == Undefined::Reason::kUnsafe;
  throw Failure{unsafe ? TemplateErrorKind::kSecurity : TemplateErrorKind::kUndefined, undefined_message(undefined), std::nullopt};
}

void require_hashable(const Value& key) {
  switch (key.type()) {
    case Type::kList:
    case Type::kDict:
      raise_runtime("unhashable type: '{}'", type_name(key));
    case Type::kTuple:
      for (const Value& item : key.as_sequence().items) require_hashable(item);
      break;
    default:
      break;
  }
}

void DictBuilder::set(const Value& key, const Value& value) {
  require_hashable(key);
  heap_.step(1 + entries_.size() / 8);
  for (Entry& entry : entries_) {
    if (equal(heap_, entry.key, key)) {
      entry.value = value;
      return;
    }
  }
  entries_.push_back({key, value});
}

Value DictBuilder::take() { return new_dict(heap_, entries_); }

const Value* find(Heap& heap, const Dict& dict, std::string_view key) {
  heap.step(dict.entries.size() / 8);
  for (const Entry& entry : dict.entries) {
    if (entry.key.is_text() && entry.key.as_text() == key) return &entry.value;
  }
  return nullptr;
}

const Value* find(Heap& heap, const Dict& dict, const Value& key) {
  if (key.is_text()) return find(heap, dict, key.as_text());
  require_hashable(key);
  heap.step(dict.entries.size() / 8);
  for (const Entry& entry : dict.entries) {
    if (equal(heap, entry.key, key)) return &entry.value;
  }
  return nullptr;
}

const Value* find(const Namespace& space, std::string_view name) {
  for (const Entry& entry : space.used()) {
    if (entry.key.as_text() == name) return &entry.value;
  }
  return nullptr;
}

void set(Heap& heap, Namespace& space, std::string_view name, const Value& value) {
  heap.step(1 + space.size / 8);
  for (Entry& entry : space.entries.first(space.size)) {
    if (entry.key.as_text() == name) {
      entry.value = value;
      return;
    }
  }
  if (space.size == space.entries.size()) {
    std::vector<Entry> more(space.entries.begin(), space.entries.end());
    more.resize(std::max<size_t>(8, 2 * more.size()));
    space.entries = heap.copy(more);
  }
  space.entries[space.size++] = {Value::text(name), value};
}

}  // namespace teapot::text::jinja
