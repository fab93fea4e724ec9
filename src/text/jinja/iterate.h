// Walking over whatever Python's iter() takes.
#pragma once

#include "text/jinja/value.h"

namespace teapot::text::jinja {

bool is_iterable(const Value& value);

// One pass over a value's items. A walk over an Iterator uses it up as it goes.
class Walk {
 public:
  // Fails if the value is not iterable.
  Walk(Heap& heap, const Value& value);
  bool next(Value& item);  // false at the end

 private:
  Heap* heap_;
  Value value_;
  size_t at_ = 0;  // item, byte or entry
};

// All items of one walk.
std::vector<Value> to_items(Heap& heap, const Value& value);

// Python's len(), by Failure for what has none.
int64_t length_of(Heap& heap, const Value& value);

}  // namespace teapot::text::jinja
