#include "text/jinja/loop.h"

#include "text/jinja/arguments.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"

namespace teapot::text::jinja {

std::optional<Value> Loop::pull() {
  if (finished) return std::nullopt;
  for (Value item; walk.next(item);) {
    if (filter == nullptr || filter->keeps(item)) return item;
  }
  finished = true;
  return std::nullopt;
}

const std::optional<Value>& Loop::peek() {
  if (!after) after = pull();
  return after;
}

std::optional<Value> Loop::advance() {
  std::optional<Value> item = after ? after : pull();
  after.reset();
  if (!item) return item;
  ++index0;
  previous = current;
  current = item;
  return item;
}

void Loop::finish() {
  finished = true;
  filter = nullptr;
}

// Without a filter the value knows; else all that is left is taken now and walked from there.
int64_t loop_length(Heap& heap, Loop& loop) {
  if (loop.length) return *loop.length;
  if (loop.filter == nullptr && !loop.whole.is(Type::kIterator)) {
    loop.length = length_of(heap, loop.whole);
  } else {
    std::vector<Value> rest;
    while (const auto item = loop.pull()) rest.push_back(*item);
    loop.length = static_cast<int64_t>(rest.size()) + loop.index0 + 1 + (loop.after ? 1 : 0);
    loop.walk = Walk(heap, new_list(heap, rest));
    loop.filter = nullptr;
    loop.finished = false;
  }
  return *loop.length;
}

namespace {

Value cycle(Heap& /*heap*/, const Value& self, const Arguments& arguments) {
  if (!arguments.keywords.empty()) raise_runtime("loop.cycle() takes no keyword arguments");
  if (arguments.positional.empty()) raise_runtime("no items for cycling given");
  return arguments.positional[static_cast<size_t>(self.as_loop().index0) % arguments.positional.size()];
}

Value changed(Heap& heap, const Value& self, const Arguments& arguments) {
  if (!arguments.keywords.empty()) raise_runtime("loop.changed() takes no keyword arguments");
  const Value values = new_tuple(heap, arguments.positional);
  Loop& loop = self.as_loop();
  if (loop.last_changed && equal(heap, *loop.last_changed, values)) return Value::boolean(false);
  loop.last_changed = values;
  return Value::boolean(true);
}

constexpr MethodEntry kCycle{"cycle", cycle};
constexpr MethodEntry kChanged{"changed", changed};

}  // namespace

std::optional<Value> loop_attribute(Heap& heap, const Value& value, std::string_view name) {
  Loop& loop = value.as_loop();
  const auto neighbour = [&](const std::optional<Value>& item, std::string_view message) {
    return item ? *item : undefined_hint(heap, message);
  };
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(!loop.peek());
  if (name == "length") return Value::integer(loop_length(heap, loop));
  if (name == "revindex0") return Value::integer(loop_length(heap, loop) - loop.index0 - 1);
  if (name == "revindex") return Value::integer(loop_length(heap, loop) - loop.index0);
  if (name == "previtem") return neighbour(loop.previous, "there is no previous item");
  if (name == "nextitem") return neighbour(loop.peek(), "there is no next item");
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "cycle") return Value::of(heap.make(Method{value, &kCycle}));
  if (name == "changed") return Value::of(heap.make(Method{value, &kChanged}));
  return std::nullopt;
}

std::string describe_loop(Heap& heap, Loop& loop) { return fmt::format("<LoopContext {}/{}>", loop.index0 + 1, loop_length(heap, loop)); }

}  // namespace teapot::text::jinja
