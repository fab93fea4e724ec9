#include <algorithm>

#include "text/unicode_tables.h"

namespace teapot::text {

bool contains(std::span<const CodeRange> ranges, char32_t code) {
  const auto range = std::ranges::lower_bound(ranges, code, {}, &CodeRange::last);
  return range != ranges.end() && range->first <= code;
}

}  // namespace teapot::text
