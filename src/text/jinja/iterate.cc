#include "text/jinja/iterate.h"

#include "text/jinja/characters.h"

namespace teapot::text::jinja {

bool is_iterable(const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
    case Type::kText:
    case Type::kList:
    case Type::kTuple:
    case Type::kDict:
    case Type::kRange:
    case Type::kView:
    case Type::kIterator:
      return true;
    default:
      return false;
  }
}

Walk::Walk(Heap& heap, const Value& value) : heap_(&heap), value_(value) {
  if (!is_iterable(value)) raise_runtime("'{}' object is not iterable", type_name(value));
}

bool Walk::next(Value& item) {
  heap_->step();
  const auto take = [&](std::span<const Value> items) {
    if (at_ >= items.size()) return false;
    item = items[at_++];
    return true;
  };
  switch (value_.type()) {
    case Type::kText: {
      const std::string_view rest = value_.as_text().substr(at_);
      if (rest.empty()) return false;
      const size_t bytes = character_bytes(rest);
      item = Value::text(rest.substr(0, bytes));
      at_ += bytes;
      return true;
    }
    case Type::kList:
    case Type::kTuple:
      return take(value_.as_sequence().items);
    case Type::kView:
      return take(value_.as_view().items);
    case Type::kDict:
      if (at_ >= value_.as_dict().entries.size()) return false;
      item = value_.as_dict().entries[at_++].key;
      return true;
    case Type::kRange:
      if (at_ >= static_cast<size_t>(value_.as_range().size())) return false;
      item = Value::integer(value_.as_range().at(static_cast<int64_t>(at_++)));
      return true;
    case Type::kIterator: {
      Iterator& iterator = value_.as_iterator();
      if (iterator.next < iterator.items.size()) {
        item = iterator.items[iterator.next++];
        return true;
      }
      if (iterator.failure != nullptr) throw Failure{iterator.failure->kind, std::string(iterator.failure->message), std::nullopt};
      return false;
    }
    default:
      return false;  // undefined: as if empty
  }
}

std::vector<Value> to_items(Heap& heap, const Value& value) {
  std::vector<Value> items;
  Walk walk(heap, value);
  for (Value item; walk.next(item);) {
    heap.expect_room((items.size() + 1) * sizeof(Value));
    items.push_back(item);
  }
  return items;
}

int64_t length_of(Heap& heap, const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
      return 0;
    case Type::kText:
      heap.step_over(value.as_text());
      return static_cast<int64_t>(count_characters(value.as_text()));
    case Type::kList:
    case Type::kTuple:
      return static_cast<int64_t>(value.as_sequence().items.size());
    case Type::kDict:
      return static_cast<int64_t>(value.as_dict().entries.size());
    case Type::kRange:
      return value.as_range().size();
    case Type::kView:
      return static_cast<int64_t>(value.as_view().items.size());
    default:
      raise_runtime("object of type '{}' has no len()", type_name(value));
  }
}

}  // namespace teapot::text::jinja
