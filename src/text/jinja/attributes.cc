#include "text/jinja/attributes.h"

#include <algorithm>
#include <charconv>

#include "text/jinja/characters.h"
#include "text/jinja/globals.h"
#include "text/jinja/loop.h"
#include "text/jinja/methods.h"
#include "text/jinja/scope.h"

namespace teapot::text::jinja {
namespace {

// Attributes that every Python object has; enough to tell "unsafe" from "undefined" where somebody tries.
bool is_object_attribute(std::string_view name) {
  constexpr std::string_view kNames[] = {"__class__", "__delattr__",      "__dir__",    "__doc__",  "__eq__",          "__format__",
                                         "__ge__",    "__getattribute__", "__gt__",     "__hash__", "__init__",        "__init_subclass__",
                                         "__le__",    "__lt__",           "__ne__",     "__new__",  "__reduce__",      "__reduce_ex__",
                                         "__repr__",  "__setattr__",      "__sizeof__", "__str__",  "__subclasshook__"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool is_container_attribute(std::string_view name) {
  constexpr std::string_view kNames[] = {"__len__",  "__iter__",    "__contains__", "__getitem__", "__add__",     "__mul__",
                                         "__rmul__", "__setitem__", "__delitem__",  "__iadd__",    "__reversed__"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool has_private_attribute(const Value& object, std::string_view name) {
  if (!name.starts_with("__")) return false;
  if (is_object_attribute(name)) return true;
  switch (object.type()) {
    case Type::kText:
    case Type::kList:
    case Type::kTuple:
    case Type::kDict:
    case Type::kRange:
      return is_container_attribute(name);
    case Type::kMethod:
      return name == "__self__" || name == "__name__" || name == "__call__" || name == "__qualname__" || name == "__module__";
    case Type::kFunction:
    case Type::kMacro:
      return name == "__call__" || name == "__name__" || name == "__module__" || name == "__globals__" || name == "__code__" ||
             name == "__dict__";
    default:
      return false;
  }
}

Value unsafe(Heap& heap, const Value& object, std::string_view name) {
  return new_undefined(heap, {Undefined::Reason::kUnsafe, object, Value::text(name), {}});
}

std::optional<Value> number_attribute(const Value& object, std::string_view name) {
  if (object.is_integral() && (name == "real" || name == "numerator")) return Value::integer(object.as_integer());
  if (object.is_integral() && name == "denominator") return Value::integer(1);
  if (object.is_integral() && name == "imag") return Value::integer(0);
  if (object.is(Type::kFloat) && name == "real") return object;
  if (object.is(Type::kFloat) && name == "imag") return Value::real(0);
  constexpr std::string_view kMethods[] = {"as_integer_ratio", "bit_count", "bit_length", "conjugate", "from_bytes",
                                           "fromhex",          "hex",       "is_integer", "to_bytes"};
  if (std::ranges::find(kMethods, name) != std::end(kMethods))
    raise_runtime("method {}() of '{}' is not supported", name, type_name(object));
  return std::nullopt;
}

std::optional<Value> group_attribute(const Value& object, std::string_view name) {
  if (!object.as_sequence().is_group) return std::nullopt;
  if (name == "grouper") return object.as_sequence().items[0];
  if (name == "list") return object.as_sequence().items[1];
  return std::nullopt;
}

std::optional<Value> range_attribute(const Value& object, std::string_view name) {
  if (name == "start") return Value::integer(object.as_range().start);
  if (name == "stop") return Value::integer(object.as_range().stop);
  if (name == "step") return Value::integer(object.as_range().step);
  return std::nullopt;
}

// The element of a sequence, as Python's indices count.
const Value* element(std::span<const Value> items, int64_t index) {
  if (index < 0) index += static_cast<int64_t>(items.size());
  return index >= 0 && index < static_cast<int64_t>(items.size()) ? &items[static_cast<size_t>(index)] : nullptr;
}

std::optional<Value> text_element(Heap& heap, const Value& text, int64_t index) {
  heap.step_over(text.as_text());
  if (index < 0) index += static_cast<int64_t>(count_characters(text.as_text()));
  if (index < 0) return std::nullopt;
  const size_t at = byte_offset(text.as_text(), static_cast<size_t>(index));
  const std::string_view rest = text.as_text().substr(at);
  if (rest.empty()) return std::nullopt;
  return Value::text(rest.substr(0, character_bytes(rest)), text.safe());
}

// object[key] alone; nothing if the key is not there or no key for this object.
std::optional<Value> own_item(Heap& heap, const Value& object, const Value& key) {
  const auto maybe = [](const Value* value) { return value == nullptr ? std::nullopt : std::optional(*value); };
  switch (object.type()) {
    case Type::kDict:
      // What cannot be hashed cannot be a key: Python's TypeError, which the environment takes as "not there".
      if (key.is(Type::kList) || key.is(Type::kDict)) return std::nullopt;
      return maybe(find(heap, object.as_dict(), key));
    case Type::kList:
    case Type::kTuple:
      return key.is_integral() ? maybe(element(object.as_sequence().items, key.as_integer())) : std::nullopt;
    case Type::kText:
      return key.is_integral() ? text_element(heap, object, key.as_integer()) : std::nullopt;
    case Type::kRange: {
      if (!key.is_integral()) return std::nullopt;
      const Range& range = object.as_range();
      const int64_t index = key.as_integer() < 0 ? key.as_integer() + range.size() : key.as_integer();
      if (index < 0 || index >= range.size()) return std::nullopt;
      return Value::integer(range.at(index));
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Value> own_attribute(Heap& heap, const Value& object, std::string_view name) {
  if (const MethodEntry* method = find_method(object, name)) {
    if (method->changes) return unsafe(heap, object, name);
    return Value::of(heap.make(Method{object, method}));
  }
  if (has_private_attribute(object, name)) return unsafe(heap, object, name);
  switch (object.type()) {
    case Type::kBool:
    case Type::kInt:
    case Type::kFloat:
      return number_attribute(object, name);
    case Type::kTuple:
      return group_attribute(object, name);
    case Type::kRange:
      return range_attribute(object, name);
    case Type::kNamespace: {
      const Value* value = find(object.as_namespace(), name);
      if (value == nullptr) return std::nullopt;
      return name.starts_with('_') ? unsafe(heap, object, name) : *value;
    }
    case Type::kLoop:
      return loop_attribute(heap, object, name);
    case Type::kCycler:
      return cycler_attribute(heap, object, name);
    case Type::kMacro:
      return name == "name" ? std::optional(Value::text(object.as_macro().definition->name)) : std::nullopt;
    case Type::kFunction:
      if (object.as_function().code == nullptr) raise_runtime("'{}' is not supported", object.as_function().name);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Value get_attribute(Heap& heap, const Value& object, std::string_view name) {
  heap.step();
  if (object.is_undefined()) raise_undefined(object);
  if (const auto attribute = own_attribute(heap, object, name)) return *attribute;
  const Value key = Value::text(name);
  if (const auto item = own_item(heap, object, key)) return *item;
  return undefined_attribute(heap, object, key);
}

Value get_item(Heap& heap, const Value& object, const Value& key) {
  heap.step();
  if (object.is_undefined()) raise_undefined(object);
  if (const auto item = own_item(heap, object, key)) return *item;
  if (key.is_text()) {
    if (const auto attribute = own_attribute(heap, object, key.as_text())) return *attribute;
  }
  return undefined_attribute(heap, object, key);
}

std::vector<Value> attribute_path(const Value& attribute) {
  if (attribute.is_integral()) return {attribute};
  if (!attribute.is_text()) raise_runtime("an attribute must be named by a text or an integer, not '{}'", type_name(attribute));
  std::vector<Value> path;
  std::string_view rest = attribute.as_text();
  while (true) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    int64_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = !part.empty() && part[0] != '-' && error == std::errc{} && end == part.data() + part.size();
    path.push_back(is_index ? Value::integer(index) : Value::text(part));
    if (dot == rest.size()) return path;
    rest.remove_prefix(dot + 1);
  }
}

Value follow_path(Heap& heap, const Value& object, const std::vector<Value>& path, const Value* fallback) {
  Value value = object;
  for (const Value& part : path) {
    value = get_item(heap, value, part);
    if (fallback != nullptr && value.is_undefined()) value = *fallback;
  }
  return value;
}

}  // namespace teapot::text::jinja
