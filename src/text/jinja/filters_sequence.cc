// Filters over items in their order. Most are lazy in Python: their result can be walked once, and an error inside is met only
// then. Here the items are made at once and the error waits with them.
#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/slice.h"
#include "text/jinja/tests.h"

namespace teapot::text::jinja {
namespace {

// produce(add) calls add(item) for each item.
template <class Produce>
Value lazily(Heap& heap, Produce produce) {
  std::vector<Value> items;
  const LateFailure* failure = nullptr;
  try {
    produce([&](const Value& item) {
      heap.step();
      heap.expect_room((items.size() + 1) * sizeof(Value));
      items.push_back(item);
    });
  } catch (const Failure& error) {
    if (error.kind == TemplateErrorKind::kBudget) throw;
    failure = heap.make(LateFailure{error.kind, heap.copy(std::string_view(error.message))});
  }
  const Value iterator = new_iterator(heap, items);
  iterator.as_iterator().failure = failure;
  return iterator;
}

template <class Use>
void each(Heap& heap, const Value& input, Use use) {
  Walk walk(heap, input);
  for (Value item; walk.next(item);) use(item);
}

Value list(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("list", arguments);
  return new_list(heap, to_items(heap, input));
}

Value length(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("length", arguments);
  return Value::integer(length_of(heap, input));
}

Value first(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("first", arguments);
  Walk walk(heap, input);
  Value item;
  return walk.next(item) ? item : undefined_hint(heap, "No first item, sequence was empty.");
}

// What Python's reversed() takes.
std::vector<Value> reversed_items(Heap& heap, const Value& input) {
  const std::vector<Value> items = to_items(heap, input);
  return {items.rbegin(), items.rend()};
}

Value last(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("last", arguments);
  if (input.is(Type::kIterator)) raise_runtime("'{}' object is not reversible", type_name(input));
  if (input.is_text()) {
    const Value character = get_item(heap, input, Value::integer(-1));
    return character.is_undefined() ? undefined_hint(heap, "No last item, sequence was empty.") : character;
  }
  const std::vector<Value> items = to_items(heap, input);
  return items.empty() ? undefined_hint(heap, "No last item, sequence was empty.") : items.back();
}

Value reverse(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("reverse", arguments);
  if (input.is_text()) return slice(heap, input, Value(), Value(), Value::integer(-1));
  if (!is_iterable(input)) raise_runtime("argument must be iterable");
  const std::vector<Value> items = reversed_items(heap, input);
  if (input.is(Type::kIterator)) return new_list(heap, items);
  return new_iterator(heap, items, "reverse iterator");
}

Value join(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("join", arguments, "d", "attribute");
  const std::string_view separator = bound[0] == nullptr ? std::string_view() : to_plain_text(heap, *bound[0]);
  const Value* attribute = bound.unless_none(1);
  const std::vector<Value> path = attribute == nullptr ? std::vector<Value>() : attribute_path(*attribute);
  std::string out;
  bool is_first = true;
  each(heap, input, [&](const Value& item) {
    if (!is_first) out += separator;
    is_first = false;
    append_str(heap, out, follow_path(heap, item, path, nullptr));
    heap.expect_room(out.size());
  });
  return new_text(heap, out);
}

Value items(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("items", arguments);
  return lazily(heap, [&](auto add) {
    if (input.is_undefined()) return;
    if (!input.is(Type::kDict)) raise_runtime("Can only get item pairs from a mapping.");
    for (const Entry& entry : input.as_dict().entries) add(new_tuple(heap, {entry.key, entry.value}));
  });
}

Arguments without_first(const Arguments& arguments, size_t count) {
  return {{arguments.positional.begin() + static_cast<std::ptrdiff_t>(count), arguments.positional.end()}, arguments.keywords};
}

void map_attribute(Heap& heap, const Value& input, const Arguments& arguments, auto add) {
  const auto bound = bind("map", arguments, "attribute", "default");
  const std::vector<Value> path = attribute_path(bound.required(0));
  each(heap, input, [&](const Value& item) { add(follow_path(heap, item, path, bound.unless_none(1))); });
}

void map_filter(Heap& heap, const Value& input, const Arguments& arguments, auto add) {
  if (arguments.positional.empty()) raise_runtime("map requires a filter argument");
  const std::string_view name = require_text(arguments.positional[0], "a filter's name");
  const FilterEntry* filter = find_filter(name);
  if (filter == nullptr) raise_runtime("No filter named '{}'.", name);
  const Arguments rest = without_first(arguments, 1);
  each(heap, input, [&](const Value& item) { add(apply_filter(heap, *filter, item, rest)); });
}

Value map(Heap& heap, const Value& input, const Arguments& arguments) {
  return lazily(heap, [&](auto add) {
    if (!truth(input)) return;
    const bool by_attribute = arguments.positional.empty() && !arguments.keywords.empty() &&
                              std::ranges::any_of(arguments.keywords, [](const auto& keyword) { return keyword.name == "attribute"; });
    if (by_attribute) {
      map_attribute(heap, input, arguments, add);
    } else {
      map_filter(heap, input, arguments, add);
    }
  });
}

// select, reject (the item itself) and selectattr, rejectattr (one of its attributes).
template <bool kWanted, bool kAttribute>
Value select(Heap& heap, const Value& input, const Arguments& arguments) {
  return lazily(heap, [&](auto add) {
    if (!truth(input)) return;
    std::vector<Value> path;
    size_t used = 0;
    if (kAttribute) {
      if (arguments.positional.empty()) raise_runtime("Missing parameter for attribute name");
      path = attribute_path(arguments.positional[used++]);
    }
    const TestEntry* test = nullptr;
    if (arguments.positional.size() > used) {
      const std::string_view name = require_text(arguments.positional[used++], "a test's name");
      test = find_test(name);
      if (test == nullptr) raise_runtime("No test named '{}'.", name);
    }
    const Arguments rest = without_first(arguments, used);
    each(heap, input, [&](const Value& item) {
      const Value subject = follow_path(heap, item, path, nullptr);
      const bool passes = test == nullptr ? truth(subject) : test->code(heap, subject, rest);
      if (passes == kWanted) add(item);
    });
  });
}

Value batch(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("batch", arguments, "linecount", "fill_with");
  return lazily(heap, [&](auto add) {
    const int64_t size = require_integer(bound.required(0), "linecount");
    std::vector<Value> line;
    each(heap, input, [&](const Value& item) {
      if (static_cast<int64_t>(line.size()) == size) {
        add(new_list(heap, line));
        line.clear();
      }
      line.push_back(item);
    });
    if (line.empty()) return;
    const Value* fill = bound.unless_none(1);
    while (fill != nullptr && static_cast<int64_t>(line.size()) < size) {
      heap.step();
      heap.expect_room(line.size() * sizeof(Value));
      line.push_back(*fill);
    }
    add(new_list(heap, line));
  });
}

Value slices(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("slice", arguments, "slices", "fill_with");
  return lazily(heap, [&](auto add) {
    const std::vector<Value> all = to_items(heap, input);
    const int64_t count = require_integer(bound.required(0), "slices");
    if (count == 0) raise_runtime("integer division or modulo by zero");
    if (count < 0) return;
    const auto size = static_cast<int64_t>(all.size());
    const int64_t each_size = size / count;
    const int64_t with_extra = size % count;
    const Value* fill = bound.unless_none(1);
    for (int64_t number = 0, start = 0; number < count; ++number) {
      const int64_t end = start + each_size + (number < with_extra ? 1 : 0);
      std::vector<Value> part(all.begin() + start, all.begin() + end);
      if (fill != nullptr && number >= with_extra) part.push_back(*fill);
      add(new_list(heap, part));
      start = end;
    }
  });
}

}  // namespace

std::span<const FilterEntry> sequence_filters() {
  static constexpr FilterEntry kFilters[] = {
      {"length", length},
      {"count", length},
      {"list", list},
      {"join", join},
      {"items", items},
      {"first", first},
      {"last", last},
      {"reverse", reverse},
      {"map", map},
      {"select", select<true, false>},
      {"reject", select<false, false>},
      {"selectattr", select<true, true>},
      {"rejectattr", select<false, true>},
      {"batch", batch},
      {"slice", slices},
  };
  return kFilters;
}

}  // namespace teapot::text::jinja
