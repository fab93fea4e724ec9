// The values that a template computes with: Python's, as far as templates can tell. A Value is small and copied freely; what it
// points to lives in the rendering's Heap, in the template or in the context, all of which outlive it. Lists, tuples, dicts and
// texts never change (the sandbox forbids it); namespaces, iterators, cyclers and joiners do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/heap.h"

namespace teapot::text::jinja {

struct Undefined;
struct Sequence;
struct Dict;
struct Range;
struct View;
struct Iterator;
struct Namespace;
struct Macro;
struct Function;
struct Method;
struct Loop;
struct Joiner;
struct Cycler;

enum class Type : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,      // dict.keys(), .values(), .items()
  kIterator,  // what lazy filters give: can be walked once
  kNamespace,
  kMacro,     // also `caller`
  kFunction,  // a global function
  kMethod,    // a method of a value, not called yet
  kLoop,      // `loop`
  kJoiner,
  kCycler,
};

class Value {
 public:
  Value() : type_(Type::kNone), integer_(0) {}
  static Value boolean(bool value) { return Value(Type::kBool, value ? 1 : 0); }
  static Value integer(int64_t value) { return Value(Type::kInt, value); }
  static Value real(double value);
  // The bytes must be UTF-8 and outlive the value. safe: text marked so by `safe` or `escape`, which + then escapes the other side of.
  static Value text(std::string_view value, bool safe = false);
  static Value list(const Sequence* items) { return Value(Type::kList, items); }
  static Value tuple(const Sequence* items) { return Value(Type::kTuple, items); }
  static Value of(const Undefined* p) { return Value(Type::kUndefined, p); }
  static Value of(const Dict* p) { return Value(Type::kDict, p); }
  static Value of(const Range* p) { return Value(Type::kRange, p); }
  static Value of(const View* p) { return Value(Type::kView, p); }
  static Value of(const Iterator* p) { return Value(Type::kIterator, p); }
  static Value of(const Namespace* p) { return Value(Type::kNamespace, p); }
  static Value of(const Macro* p) { return Value(Type::kMacro, p); }
  static Value of(const Function* p) { return Value(Type::kFunction, p); }
  static Value of(const Method* p) { return Value(Type::kMethod, p); }
  static Value of(const Loop* p) { return Value(Type::kLoop, p); }
  static Value of(const Joiner* p) { return Value(Type::kJoiner, p); }
  static Value of(const Cycler* p) { return Value(Type::kCycler, p); }

  Type type() const { return type_; }
  bool is(Type type) const { return type_ == type; }
  bool is_undefined() const { return type_ == Type::kUndefined; }
  bool is_none() const { return type_ == Type::kNone; }
  bool is_text() const { return type_ == Type::kText; }
  bool is_integral() const { return type_ == Type::kInt || type_ == Type::kBool; }  // bool is an int, as in Python
  bool is_number() const { return is_integral() || type_ == Type::kFloat; }
  bool is_sequence() const { return type_ == Type::kList || type_ == Type::kTuple; }

  // Each may only be asked of its type.
  int64_t as_integer() const { return integer_; }  // kInt, kBool
  double as_real() const { return real_; }         // kFloat
  std::string_view as_text() const { return {text_, size_}; }
  bool safe() const { return safe_; }
  const Undefined& as_undefined() const { return *static_cast<const Undefined*>(object_); }
  const Sequence& as_sequence() const { return *static_cast<const Sequence*>(object_); }
  const Dict& as_dict() const { return *static_cast<const Dict*>(object_); }
  const Range& as_range() const { return *static_cast<const Range*>(object_); }
  const View& as_view() const { return *static_cast<const View*>(object_); }
  const Macro& as_macro() const { return *static_cast<const Macro*>(object_); }
  const Function& as_function() const { return *static_cast<const Function*>(object_); }
  const Method& as_method() const { return *static_cast<const Method*>(object_); }
  // Those that change are made by Heap::make as what they are, so the cast only gives back what Value::of took away.
  Iterator& as_iterator() const { return *static_cast<Iterator*>(const_cast<void*>(object_)); }
  Namespace& as_namespace() const { return *static_cast<Namespace*>(const_cast<void*>(object_)); }
  Loop& as_loop() const { return *static_cast<Loop*>(const_cast<void*>(object_)); }
  Joiner& as_joiner() const { return *static_cast<Joiner*>(const_cast<void*>(object_)); }
  Cycler& as_cycler() const { return *static_cast<Cycler*>(const_cast<void*>(object_)); }
  const void* identity() const { return object_; }  // any type that points to something

 private:
  Value(Type type, int64_t value) : type_(type), integer_(value) {}
  Value(Type type, const void* object) : type_(type), object_(object) {}

  Type type_;
  bool safe_ = false;
  size_t size_ = 0;  // of the text, in bytes
  union {
    int64_t integer_;
    double real_;
    const char* text_;
    const void* object_;
  };
};

// Why a value is undefined; the message is made when somebody trips over it.
struct Undefined {
  enum class Reason : uint8_t { kVariable, kAttribute, kParameter, kUnsafe, kHint };
  Reason reason;
  Value object;           // kAttribute, kUnsafe: of what
  Value name;             // the variable, attribute, index or parameter
  std::string_view hint;  // kHint: the whole message
};

struct Sequence {
  std::span<const Value> items;
  uint32_t nesting = 1;
  bool is_group = false;  // a tuple of groupby: has .grouper and .list
};

struct Entry {
  Value key;
  Value value;
};

// In the order of insertion. Looked up by a walk: dicts of conversations are small, and each look is counted.
struct Dict {
  std::span<const Entry> entries;
  uint32_t nesting = 1;
};

struct Range {
  int64_t start, stop, step;
  int64_t size() const;
  int64_t at(int64_t index) const { return start + index * step; }
};

struct View {
  std::string_view type_name;  // dict_keys, dict_values, dict_items
  std::span<const Value> items;
  uint32_t nesting = 1;
};

// An error that a lazy filter meets only once its items are asked for.
struct LateFailure {
  TemplateErrorKind kind;
  std::string_view message;
};

struct Iterator {
  std::string_view type_name;  // generator, list_reverseiterator, ...
  std::span<const Value> items;
  size_t next = 0;
  const LateFailure* failure = nullptr;  // what whoever walks past the items gets
};

struct Namespace {
  std::span<Entry> entries;  // room for more than size
  size_t size = 0;

  std::span<const Entry> used() const { return entries.first(size); }
};

struct Joiner {
  std::string_view separator;
  bool used = false;
};

struct Cycler {
  std::span<const Value> items;
  size_t position = 0;
};

// The arguments of a call, as they were written.
struct Arguments {
  struct Keyword {
    std::string_view name;
    Value value;
  };
  std::vector<Value> positional;
  std::vector<Keyword> keywords;
};

// How deep lists, tuples, dicts and views may nest: what walks them (equality, hashing, printing) recurses that deep.
constexpr uint32_t kMaxNesting = 400;

Value new_list(Heap& heap, const std::vector<Value>& items);
Value new_tuple(Heap& heap, const std::vector<Value>& items);
Value new_group(Heap& heap, const Value& grouper, const Value& list);
Value new_dict(Heap& heap, const std::vector<Entry>& entries);  // keys must be hashable and differ
Value new_view(Heap& heap, std::string_view type_name, const std::vector<Value>& items);
Value new_text(Heap& heap, std::string_view text, bool safe = false);  // copies
Value new_undefined(Heap& heap, Undefined undefined);
Value undefined_attribute(Heap& heap, const Value& object, const Value& name);
Value undefined_hint(Heap& heap, std::string_view message);
Value new_iterator(Heap& heap, const std::vector<Value>& items, std::string_view type_name = "generator");

// Python's type(value).__name__.
std::string_view type_name(const Value& value);
bool truth(const Value& value);
// Throws what using this undefined value deserves: an undefined or a security error.
[[noreturn]] void raise_undefined(const Value& value);
std::string undefined_message(const Undefined& undefined);

// Builds a dict key by key; a key that is there already keeps its place and gets the new value. Keys must be hashable.
class DictBuilder {
 public:
  explicit DictBuilder(Heap& heap) : heap_(heap) {}
  void set(const Value& key, const Value& value);
  Value take();

 private:
  Heap& heap_;
  std::vector<Entry> entries_;
};

// The value of a key, or null. A key that cannot be hashed is a runtime error, as in Python.
const Value* find(Heap& heap, const Dict& dict, const Value& key);
const Value* find(Heap& heap, const Dict& dict, std::string_view key);
void require_hashable(const Value& key);

const Value* find(const Namespace& space, std::string_view name);
void set(Heap& heap, Namespace& space, std::string_view name, const Value& value);

}  // namespace teapot::text::jinja
