// What may stand behind `|`.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

using FilterCode = Value (*)(Heap& heap, const Value& input, const Arguments& arguments);

struct FilterEntry {
  std::string_view name;
  FilterCode code;  // null: Jinja has it, we do not
};

// Null if there is none of that name, here or in Jinja.
const FilterEntry* find_filter(std::string_view name);
// Fails if the filter is one that only Jinja has.
Value apply_filter(Heap& heap, const FilterEntry& filter, const Value& input, const Arguments& arguments);

std::span<const FilterEntry> text_filters();
std::span<const FilterEntry> markup_filters();
std::span<const FilterEntry> number_filters();
std::span<const FilterEntry> sequence_filters();
std::span<const FilterEntry> order_filters();

}  // namespace teapot::text::jinja
