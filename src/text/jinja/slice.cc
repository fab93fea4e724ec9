#include "text/jinja/slice.h"

#include <algorithm>
#include <limits>

#include "text/jinja/characters.h"
#include "text/jinja/markup.h"
#include "text/jinja/operators.h"

namespace teapot::text::jinja {
namespace {

struct Indices {
  int64_t start, stop, step, count;
};

int64_t bound_of(const Value& value, int64_t size, int64_t lowest, int64_t highest, int64_t fallback) {
  if (value.is_none()) return fallback;
  int64_t index = require_integer(value, "slice indices");
  if (index < 0) index += size;
  return std::clamp(index, lowest, highest);
}

Indices indices_of(int64_t size, const Value& start, const Value& stop, const Value& step) {
  const int64_t stride = step.is_none() ? 1 : require_integer(step, "a slice step");
  if (stride == 0) raise_runtime("slice step cannot be zero");
  if (stride > 0) {
    const int64_t from = bound_of(start, size, 0, size, 0);
    const int64_t to = bound_of(stop, size, 0, size, size);
    return {from, to, stride, from < to ? (to - from - 1) / stride + 1 : 0};
  }
  const int64_t from = bound_of(start, size, -1, size - 1, size - 1);
  const int64_t to = bound_of(stop, size, -1, size - 1, -1);
  // from - to is at most size, so a stride that cannot be negated steps over everything just as size does.
  const int64_t back = stride == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -stride;
  return {from, to, -back, to < from ? (from - to - 1) / back + 1 : 0};
}

Value slice_text(Heap& heap, const Value& value, const Value& start, const Value& stop, const Value& step) {
  const std::string_view text = value.as_text();
  heap.step_over(text);
  const Indices indices = indices_of(static_cast<int64_t>(count_characters(text)), start, stop, step);
  if (indices.count == 0) return Value::text("", value.safe());
  if (indices.step == 1) {
    const size_t from = byte_offset(text, static_cast<size_t>(indices.start));
    return Value::text(text.substr(from, byte_offset(text.substr(from), static_cast<size_t>(indices.count))), value.safe());
  }
  heap.expect_room(text.size() * sizeof(std::string_view));
  const std::vector<std::string_view> characters = split_characters(text);
  heap.step(characters.size());
  std::string out;
  int64_t at = indices.start;
  for (int64_t i = 0; i < indices.count; ++i, at += indices.step) out += characters[static_cast<size_t>(at)];
  return new_text(heap, out, value.safe());
}

}  // namespace

Value slice(Heap& heap, const Value& value, const Value& start, const Value& stop, const Value& step) {
  if (value.is_undefined()) raise_undefined(value);
  if (value.is_text()) return slice_text(heap, value, start, stop, step);
  if (value.is(Type::kRange)) {
    const Range& range = value.as_range();
    const Indices indices = indices_of(range.size(), start, stop, step);
    int64_t stride = 0;
    int64_t end = 0;  // up to one step beyond the range, in either direction
    const bool overflows = __builtin_mul_overflow(range.step, indices.step, &stride) ||
                           __builtin_mul_overflow(range.step, indices.stop, &end) || __builtin_add_overflow(range.start, end, &end);
    if (overflows) raise_runtime("integer overflow: a slice of a range does not fit into 64 bits");
    return Value::of(heap.make(Range{range.at(indices.start), end, stride}));
  }
  if (!value.is_sequence()) raise_runtime("'{}' object has no slices", type_name(value));
  const auto items = value.as_sequence().items;
  const Indices indices = indices_of(static_cast<int64_t>(items.size()), start, stop, step);
  heap.step(static_cast<uint64_t>(indices.count));
  heap.expect_room(static_cast<size_t>(indices.count) * sizeof(Value));
  std::vector<Value> part;
  part.reserve(static_cast<size_t>(indices.count));
  int64_t at = indices.start;
  for (int64_t i = 0; i < indices.count; ++i, at += indices.step) part.push_back(items[static_cast<size_t>(at)]);
  return value.is(Type::kList) ? new_list(heap, part) : new_tuple(heap, part);
}

Value replace_text(Heap& heap, const Value& text, const Value& old, const Value& fresh, int64_t count) {
  const bool safe = text.safe() || fresh.safe();
  if (!text.safe() && fresh.safe()) raise_runtime("putting text marked safe into other text with replace is not supported");
  const std::string_view from = text.as_text();
  const std::string escaped = safe && !fresh.safe() ? escape_html(fresh.as_text()) : std::string(fresh.as_text());
  const std::string escaped_old = safe && !old.safe() ? escape_html(old.as_text()) : std::string(old.as_text());
  auto left = count < 0 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(count);
  heap.step_over(from);
  std::string out;
  size_t at = 0;
  const auto add = [&](std::string_view part) {
    out += part;
    heap.step();
    heap.expect_room(out.size());
  };
  if (escaped_old.empty()) {  // before each character and at the end
    for (; left > 0 && at < from.size(); --left) {
      const size_t bytes = character_bytes(from.substr(at));
      add(escaped);
      add(from.substr(at, bytes));
      at += bytes;
    }
    add(from.substr(at));
    if (left > 0) add(escaped);
    return new_text(heap, out, safe);
  }
  for (; left > 0; --left) {
    const size_t found = from.find(escaped_old, at);
    if (found == from.npos) break;
    add(from.substr(at, found - at));
    add(escaped);
    at = found + escaped_old.size();
  }
  if (at == 0) return Value::text(from, safe);
  add(from.substr(at));
  return new_text(heap, out, safe);
}

Value center_text(Heap& heap, std::string_view text, int64_t width, std::string_view fill) {
  const auto size = static_cast<int64_t>(count_characters(text));
  if (width <= size) return Value::text(text);
  const int64_t padding = width - size;
  // CPython's rounding: an odd rest goes to the left only if the width is odd.
  const int64_t left = padding / 2 + (padding & width & 1);
  const Value before = binary(heap, Operator::kMultiply, Value::text(fill), Value::integer(left));
  const Value after = binary(heap, Operator::kMultiply, Value::text(fill), Value::integer(padding - left));
  return new_text(heap, fmt::format("{}{}{}", before.as_text(), text, after.as_text()));
}

}  // namespace teapot::text::jinja
