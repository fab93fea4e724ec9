#include "text/jinja/filters.h"

#include <algorithm>

#include "text/jinja/failure.h"

namespace teapot::text::jinja {

const FilterEntry* find_filter(std::string_view name) {
  static constexpr FilterEntry kOnlyInJinja[] = {{"pprint", nullptr}, {"random", nullptr}, {"urlize", nullptr}, {"wordwrap", nullptr}};
  for (const auto filters : {text_filters(), sequence_filters(), number_filters(), order_filters(), markup_filters(),
                             std::span<const FilterEntry>(kOnlyInJinja)}) {
    const auto found = std::ranges::find(filters, name, &FilterEntry::name);
    if (found != filters.end()) return &*found;
  }
  return nullptr;
}

Value apply_filter(Heap& heap, const FilterEntry& filter, const Value& input, const Arguments& arguments) {
  heap.step();
  if (filter.code == nullptr) raise_runtime("filter '{}' is not supported", filter.name);
  return filter.code(heap, input, arguments);
}

}  // namespace teapot::text::jinja
