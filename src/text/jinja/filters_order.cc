// Filters that compare items: texts without regard to case, unless case_sensitive is set.
#include <algorithm>
#include <list>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/case_mapping.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"

namespace teapot::text::jinja {
namespace {

// What an item is compared by.
class Key {
 public:
  Key(Heap& heap, const Value* attribute, bool case_sensitive, const Value* fallback = nullptr)
      : heap_(heap), case_sensitive_(case_sensitive), fallback_(fallback) {
    if (attribute != nullptr) path_ = attribute_path(*attribute);
  }

  Value raw(const Value& item) const { return follow_path(heap_, item, path_, fallback_); }

  Value operator()(const Value& item) const {
    const Value key = raw(item);
    if (case_sensitive_ || !key.is_text()) return key;
    heap_.step_over(key.as_text());
    return new_text(heap_, to_lower(key.as_text()));
  }

 private:
  Heap& heap_;
  std::vector<Value> path_;
  bool case_sensitive_;
  const Value* fallback_;
};

struct Keyed {
  Value key;
  Value item;
};

// Stable both ways, as Python's sorted. A list stays whole whatever the comparison says (NaN) or throws.
void sort_by_key(Heap& heap, std::list<Keyed>& items, bool descending) {
  items.sort([&](const Keyed& a, const Keyed& b) { return descending ? less(heap, b.key, a.key) : less(heap, a.key, b.key); });
}

Value list_of_items(Heap& heap, const std::list<Keyed>& keyed) {
  std::vector<Value> items;
  items.reserve(keyed.size());
  for (const Keyed& one : keyed) items.push_back(one.item);
  return new_list(heap, items);
}

Value sort(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("sort", arguments, "reverse", "case_sensitive", "attribute");
  // "a,b" sorts by a, then by b.
  std::vector<Key> keys;
  const Value* attribute = bound.unless_none(2);
  if (attribute != nullptr && attribute->is_text()) {
    std::string_view rest = attribute->as_text();
    while (true) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const Value one = Value::text(rest.substr(0, comma));
      keys.emplace_back(heap, &one, bound.flag(1));
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  } else {
    keys.emplace_back(heap, attribute, bound.flag(1));
  }
  std::list<Keyed> items;
  for (const Value& item : to_items(heap, input)) {
    std::vector<Value> parts;
    parts.reserve(keys.size());
    for (const Key& key : keys) parts.push_back(key(item));
    items.push_back({new_list(heap, parts), item});
  }
  sort_by_key(heap, items, bound.flag(0));
  return list_of_items(heap, items);
}

Value dict_sort(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("dictsort", arguments, "case_sensitive", "by", "reverse");
  const std::string_view by = bound[1] == nullptr ? "key" : require_text(*bound[1], "by");
  if (by != "key" && by != "value") raise_runtime("You can only sort by either \"key\" or \"value\"");
  if (input.is_undefined()) raise_undefined(input);
  if (!input.is(Type::kDict)) raise_runtime("dictsort needs a mapping, not '{}'", type_name(input));
  const Key key(heap, nullptr, bound.flag(0));
  std::list<Keyed> items;
  for (const Entry& entry : input.as_dict().entries) {
    items.push_back({key(by == "key" ? entry.key : entry.value), new_tuple(heap, {entry.key, entry.value})});
  }
  sort_by_key(heap, items, bound.flag(2));
  return list_of_items(heap, items);
}

Value unique(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("unique", arguments, "case_sensitive", "attribute");
  const Key key(heap, bound.unless_none(1), bound.flag(0));
  std::vector<Value> seen;
  std::vector<Value> items;
  for (const Value& item : to_items(heap, input)) {
    const Value k = key(item);
    require_hashable(k);
    if (std::ranges::any_of(seen, [&](const Value& other) { return equal(heap, k, other); })) continue;
    seen.push_back(k);
    items.push_back(item);
  }
  return new_iterator(heap, items);
}

template <bool kGreatest>
Value extreme(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind(kGreatest ? "max" : "min", arguments, "case_sensitive", "attribute");
  const Key key(heap, bound.unless_none(1), bound.flag(0));
  std::optional<Keyed> best;
  Walk walk(heap, input);
  for (Value item; walk.next(item);) {
    const Keyed candidate{key(item), item};
    if (!best || (kGreatest ? less(heap, best->key, candidate.key) : less(heap, candidate.key, best->key))) best = candidate;
  }
  return best ? best->item : undefined_hint(heap, "No aggregated item, sequence was empty.");
}

Value sum(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("sum", arguments, "attribute", "start");
  const Key key(heap, bound.unless_none(0), true);
  Value total = bound[1] == nullptr ? Value::integer(0) : *bound[1];
  if (total.is_text()) raise_runtime("sum() can't sum strings [use ''.join(seq) instead]");
  Walk walk(heap, input);
  for (Value item; walk.next(item);) total = binary(heap, Operator::kAdd, total, key(item));
  return total;
}

Value group_by(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("groupby", arguments, "attribute", "default", "case_sensitive");
  const Value& attribute = bound.required(0);
  const Key key(heap, attribute.is_none() ? nullptr : &attribute, bound.flag(2), bound.unless_none(1));
  std::list<Keyed> items;
  for (const Value& item : to_items(heap, input)) items.push_back({key(item), item});
  sort_by_key(heap, items, false);
  std::vector<Value> groups;
  for (auto begin = items.begin(); begin != items.end();) {
    std::vector<Value> members;
    auto end = begin;
    do {  // at least one: NaN is not even equal to itself
      members.push_back(end->item);
      ++end;
    } while (end != items.end() && equal(heap, end->key, begin->key));
    groups.push_back(new_group(heap, key.raw(members[0]), new_list(heap, members)));
    begin = end;
  }
  return new_list(heap, groups);
}

}  // namespace

std::span<const FilterEntry> order_filters() {
  static constexpr FilterEntry kFilters[] = {
      {"sort", sort}, {"dictsort", dict_sort}, {"unique", unique}, {"min", extreme<false>}, {"max", extreme<true>},
      {"sum", sum},   {"groupby", group_by},
  };
  return kFilters;
}

}  // namespace teapot::text::jinja
