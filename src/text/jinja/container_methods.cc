// Methods of list, tuple and dict: those that only look. Those that change the value are known so that the sandbox can say no.
#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"

namespace teapot::text::jinja {
namespace {

Value index_method(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto bound = bind("index", arguments, "value", "start", "stop");
  const auto items = self.as_sequence().items;
  const auto size = static_cast<int64_t>(items.size());
  const auto place = [size](const Value* value, int64_t fallback) {
    if (value == nullptr) return fallback;
    const int64_t index = require_integer(*value, "slice indices");
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const int64_t stop = place(bound[2], size);
  for (int64_t i = place(bound[1], 0); i < stop; ++i) {
    if (equal(heap, items[static_cast<size_t>(i)], bound.required(0))) return Value::integer(i);
  }
  raise_runtime("the value is not in {}", type_name(self));
}

Value count_method(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto bound = bind("count", arguments, "value");
  const Value& wanted = bound.required(0);
  return Value::integer(std::ranges::count_if(self.as_sequence().items, [&](const Value& item) { return equal(heap, item, wanted); }));
}

// Nothing changes a list or dict, so its copy is itself.
Value copy_method(Heap& heap, const Value& self, const Arguments& arguments) {
  expect_no_arguments("copy", arguments);
  heap.step();
  return self;
}

Value get_method(Heap& heap, const Value& self, const Arguments& arguments) {
  if (!arguments.keywords.empty()) raise_runtime("dict.get() takes no keyword arguments");
  const auto bound = bind("get", arguments, "key", "default");
  const Value* value = find(heap, self.as_dict(), bound.required(0));
  return value != nullptr ? *value : bound[1] != nullptr ? *bound[1] : Value();
}

Value keys_method(Heap& heap, const Value& self, const Arguments& arguments) {
  expect_no_arguments("keys", arguments);
  std::vector<Value> items;
  for (const Entry& entry : self.as_dict().entries) items.push_back(entry.key);
  return new_view(heap, "dict_keys", items);
}

Value values_method(Heap& heap, const Value& self, const Arguments& arguments) {
  expect_no_arguments("values", arguments);
  std::vector<Value> items;
  for (const Entry& entry : self.as_dict().entries) items.push_back(entry.value);
  return new_view(heap, "dict_values", items);
}

Value items_method(Heap& heap, const Value& self, const Arguments& arguments) {
  expect_no_arguments("items", arguments);
  std::vector<Value> items;
  for (const Entry& entry : self.as_dict().entries) items.push_back(new_tuple(heap, {entry.key, entry.value}));
  return new_view(heap, "dict_items", items);
}

}  // namespace

std::span<const MethodEntry> list_methods() {
  static constexpr MethodEntry kMethods[] = {
      {"append", nullptr, true}, {"clear", nullptr, true},   {"copy", copy_method},     {"count", count_method},
      {"extend", nullptr, true}, {"index", index_method},    {"insert", nullptr, true}, {"pop", nullptr, true},
      {"remove", nullptr, true}, {"reverse", nullptr, true}, {"sort", nullptr, true},
  };
  return kMethods;
}

std::span<const MethodEntry> tuple_methods() {
  static constexpr MethodEntry kMethods[] = {{"count", count_method}, {"index", index_method}};
  return kMethods;
}

std::span<const MethodEntry> dict_methods() {
  static constexpr MethodEntry kMethods[] = {
      {"clear", nullptr, true},      {"copy", copy_method},     {"fromkeys", nullptr},     {"get", get_method},
      {"items", items_method},       {"keys", keys_method},     {"pop", nullptr, true},    {"popitem", nullptr, true},
      {"setdefault", nullptr, true}, {"update", nullptr, true}, {"values", values_method},
  };
  return kMethods;
}

const MethodEntry* find_method(const Value& self, std::string_view name) {
  std::span<const MethodEntry> methods;
  switch (self.type()) {
    case Type::kText:
      methods = text_methods();
      break;
    case Type::kList:
      methods = list_methods();
      break;
    case Type::kTuple:
      methods = tuple_methods();
      break;
    case Type::kDict:
      methods = dict_methods();
      break;
    default:
      return nullptr;
  }
  const auto found = std::ranges::lower_bound(methods, name, {}, &MethodEntry::name);
  return found != methods.end() && found->name == name ? &*found : nullptr;
}

Value call_method(Heap& heap, const Method& method, const Arguments& arguments) {
  if (method.entry->code == nullptr) raise_runtime("method {}() of '{}' is not supported", method.entry->name, type_name(method.self));
  return method.entry->code(heap, method.self, arguments);
}

}  // namespace teapot::text::jinja
