// Filters that make text from text.
#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/case_mapping.h"
#include "text/jinja/characters.h"
#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/printf_format.h"
#include "text/jinja/slice.h"

namespace teapot::text::jinja {
namespace {

template <std::string (*kMapping)(std::string_view)>
Value case_filter(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("a case filter", arguments);
  const Value text = to_text(heap, input);
  heap.step_over(text.as_text());
  return new_text(heap, kMapping(text.as_text()), text.safe());
}

// Jinja's own: words also begin behind dashes and opening brackets, and nowhere else.
Value title(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("title", arguments);
  std::string_view text = to_plain_text(heap, input);
  heap.step_over(text);
  const auto is_separator = [](std::string_view character) {
    return std::string_view("-({[<").find(character) != std::string_view::npos || is_space(decode(character)[0]);
  };
  std::string out;
  while (!text.empty()) {
    const size_t first = character_bytes(text);
    size_t end = first;
    const bool separators = is_separator(text.substr(0, first));
    while (end < text.size() && is_separator(text.substr(end, character_bytes(text.substr(end)))) == separators)
      end += character_bytes(text.substr(end));
    out += to_upper(text.substr(0, first));
    out += to_lower(text.substr(first, end - first));
    text.remove_prefix(end);
  }
  return new_text(heap, out);
}

Value trim(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("trim", arguments, "chars");
  const Value text = to_text(heap, input);
  heap.step_over(text.as_text());
  std::optional<std::string_view> set;
  if (const Value* chars = bound.unless_none(0)) set = require_text(*chars, "the characters to trim");
  return Value::text(strip(text.as_text(), true, true, set), text.safe());
}

Value replace(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("replace", arguments, "old", "new", "count");
  const Value* count = bound.unless_none(2);
  return replace_text(heap, Value::text(to_plain_text(heap, input)), Value::text(to_plain_text(heap, bound.required(0))),
                      Value::text(to_plain_text(heap, bound.required(1))), count == nullptr ? -1 : require_integer(*count, "count"));
}

Value string(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("string", arguments);
  return to_text(heap, input);
}

Value center(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("center", arguments, "width");
  return center_text(heap, to_plain_text(heap, input), bound[0] == nullptr ? 80 : require_integer(*bound[0], "a width"), " ");
}

Value indent(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("indent", arguments, "width", "first", "blank");
  const std::string_view text = require_text(input, "the text to indent");
  Value indention = Value::text("    ");
  if (bound[0] != nullptr) {
    indention = bound[0]->is_text()
                    ? *bound[0]
                    : binary(heap, Operator::kMultiply, Value::text(" "), Value::integer(require_integer(*bound[0], "a width")));
  }
  const bool blank = bound.flag(2);
  heap.step_over(text);
  heap.expect_room(text.size() * 2);
  std::string closed(text);
  closed += '\n';  // so that an empty last line is a line
  std::string out;
  if (bound.flag(1)) out += indention.as_text();
  bool is_first = true;
  for (const std::string_view line : split_lines(closed, false)) {
    if (!is_first) out += '\n';
    if (!is_first && (blank || !line.empty())) out += indention.as_text();
    out += line;
    is_first = false;
    heap.step();
    heap.expect_room(out.size());
  }
  return new_text(heap, out, input.safe());
}

Value truncate(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("truncate", arguments, "length", "killwords", "end", "leeway");
  const std::string_view text = require_text(input, "the text to truncate");
  const std::string_view end = bound[2] == nullptr ? "..." : require_text(*bound[2], "the end");
  const int64_t length = bound[0] == nullptr ? 255 : require_integer(*bound[0], "length");
  const int64_t leeway = bound.unless_none(3) == nullptr ? 5 : require_integer(*bound[3], "leeway");
  const auto end_length = static_cast<int64_t>(count_characters(end));
  if (length < end_length) raise_runtime("expected length >= {}, got {}", end_length, length);
  if (leeway < 0) raise_runtime("expected leeway >= 0, got {}", leeway);
  if (input.safe()) raise_runtime("truncating text marked safe is not supported");
  heap.step_over(text);
  const auto size = static_cast<int64_t>(count_characters(text));
  if (size <= length || size - length <= leeway) return input;
  std::string_view kept = text.substr(0, byte_offset(text, static_cast<size_t>(length - end_length)));
  if (!bound.flag(1)) kept = kept.substr(0, kept.rfind(' '));  // npos: all of it
  return new_text(heap, fmt::format("{}{}", kept, end));
}

Value word_count(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("wordcount", arguments);
  const std::string_view text = to_plain_text(heap, input);
  heap.step_over(text);
  int64_t words = 0;
  bool inside = false;
  for (const char32_t code : decode(text)) {
    words += is_word(code) && !inside ? 1 : 0;
    inside = is_word(code);
  }
  return Value::integer(words);
}

Value format(Heap& heap, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.keywords.empty())
    raise_runtime("can't handle positional and keyword arguments at the same time");
  if (arguments.keywords.empty()) return printf_format(heap, to_text(heap, input), new_tuple(heap, arguments.positional));
  std::vector<Entry> entries;
  entries.reserve(arguments.keywords.size());
  for (const auto& keyword : arguments.keywords) entries.push_back({Value::text(keyword.name), keyword.value});
  return printf_format(heap, to_text(heap, input), new_dict(heap, entries));
}

Value to_json_filter(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("tojson", arguments, "ensure_ascii", "indent", "separators", "sort_keys");
  JsonStyle style;
  style.ensure_ascii = bound.flag(0);
  style.sort_keys = bound.flag(3);
  if (const Value* level = bound.unless_none(1)) {
    style.indent =
        level->is_text()
            ? std::string(level->as_text())
            : std::string(binary(heap, Operator::kMultiply, Value::text(" "), Value::integer(require_integer(*level, "indent"))).as_text());
    style.item_separator = ",";
  }
  if (const Value* separators = bound.unless_none(2)) {
    if (!separators->is_sequence() || separators->as_sequence().items.size() != 2) raise_runtime("separators must be a pair of texts");
    style.item_separator = require_text(separators->as_sequence().items[0], "a separator");
    style.key_separator = require_text(separators->as_sequence().items[1], "a separator");
  }
  return new_text(heap, to_json(heap, input, style));
}

}  // namespace

std::span<const FilterEntry> text_filters() {
  static constexpr FilterEntry kFilters[] = {
      {"trim", trim},
      {"tojson", to_json_filter},
      {"string", string},
      {"upper", case_filter<to_upper>},
      {"lower", case_filter<to_lower>},
      {"title", title},
      {"capitalize", case_filter<capitalize>},
      {"replace", replace},
      {"indent", indent},
      {"truncate", truncate},
      {"center", center},
      {"format", format},
      {"wordcount", word_count},
  };
  return kFilters;
}

}  // namespace teapot::text::jinja
