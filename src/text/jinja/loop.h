// `loop`: where a for statement is, and what comes before and after. Items are taken one ahead only when somebody asks.
#pragma once

#include <optional>
#include <string>

#include "text/jinja/iterate.h"

namespace teapot::text::jinja {

struct Scope;
struct Stmt;

// The condition of `for x in y if ...`, asked item by item as the loop goes.
class ItemFilter {
 public:
  virtual bool keeps(const Value& item) = 0;

 protected:
  ~ItemFilter() = default;
};

struct Loop {
  Walk walk;
  ItemFilter* filter;     // or null
  const Stmt* recursive;  // the statement, if it may call itself through loop(...), else null
  Scope* scope;           // around the statement
  Value whole;            // what is walked
  int64_t depth0 = 0;
  int64_t index0 = -1;
  std::optional<Value> previous{}, current{}, after{};
  std::optional<int64_t> length{};
  std::optional<Value> last_changed{};
  bool finished = false;

  // The next item, or nothing at the end.
  std::optional<Value> advance();
  // The statement is over; its filter no longer exists.
  void finish();

  const std::optional<Value>& peek();

 private:
  friend int64_t loop_length(Heap& heap, Loop& loop);
  std::optional<Value> pull();
};

std::optional<Value> loop_attribute(Heap& heap, const Value& loop, std::string_view name);
std::string describe_loop(Heap& heap, Loop& loop);

}  // namespace teapot::text::jinja
