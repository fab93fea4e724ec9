// Filters for HTML and addresses. Chat templates have little use for them but `safe`, which many put behind tojson.
#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/characters.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/markup.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

Value safe(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("safe", arguments);
  return Value::text(to_plain_text(heap, input), true);
}

Value escape(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("escape", arguments);
  const Value text = to_text(heap, input);
  if (text.safe()) return text;
  heap.step_over(text.as_text());
  return new_text(heap, escape_html(text.as_text()), true);
}

Value force_escape(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("forceescape", arguments);
  const std::string_view text = to_plain_text(heap, input);
  heap.step_over(text);
  return new_text(heap, escape_html(text), true);
}

// Cuts out everything from `open` to `close`, again and again from the start, since what is left may join to a new one.
void cut_out(Heap& heap, std::string& text, std::string_view open, std::string_view close) {
  for (size_t start = text.find(open); start != text.npos; start = text.find(open)) {
    const size_t end = text.find(close, start);
    if (end == text.npos) break;
    text.erase(start, end + close.size() - start);
    heap.step_over(text);
  }
}

Value strip_tags(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("striptags", arguments);
  std::string text(to_plain_text(heap, input));
  heap.step_over(text);
  cut_out(heap, text, "<!--", "-->");
  cut_out(heap, text, "<", ">");
  if (text.find('&') != text.npos) raise_runtime("striptags of text with character references is not supported");
  std::string out;
  bool gap = false;
  for (const std::string_view character : split_characters(text)) {
    if (is_space(decode(character)[0])) {
      gap = !out.empty();
      continue;
    }
    if (gap) out += ' ';
    gap = false;
    out += character;
  }
  return new_text(heap, out);
}

std::string quote_url(std::string_view text, bool for_query) {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !for_query)) {
      out += c;
    } else if (c == ' ' && for_query) {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return out;
}

Value url_encode(Heap& heap, const Value& input, const Arguments& arguments) {
  expect_no_arguments("urlencode", arguments);
  if (input.is_text() || !is_iterable(input)) {
    const std::string_view text = to_plain_text(heap, input);
    heap.step_over(text);
    return new_text(heap, quote_url(text, false));
  }
  std::string out;
  const auto add = [&](const Value& key, const Value& value) {
    if (!out.empty()) out += '&';
    out += quote_url(to_plain_text(heap, key), true) + '=' + quote_url(to_plain_text(heap, value), true);
    heap.expect_room(out.size());
  };
  if (input.is(Type::kDict)) {
    for (const Entry& entry : input.as_dict().entries) add(entry.key, entry.value);
  } else {
    Walk walk(heap, input);
    for (Value item; walk.next(item);) {
      const std::vector<Value> pair = to_items(heap, item);
      if (pair.size() != 2) raise_runtime("urlencode needs pairs, not {} values", pair.size());
      add(pair[0], pair[1]);
    }
  }
  return new_text(heap, out);
}

Value xml_attributes(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto bound = bind("xmlattr", arguments, "autospace");
  if (!input.is(Type::kDict)) raise_runtime("xmlattr needs a mapping, not '{}'", type_name(input));
  std::string out;
  for (const Entry& entry : input.as_dict().entries) {
    if (entry.value.is_none() || entry.value.is_undefined()) continue;
    const std::string_view key = require_text(entry.key, "an attribute's name");
    const bool bad = key.find_first_of("/>=") != key.npos || std::ranges::any_of(decode(key), is_space);
    if (bad) raise_runtime("Invalid character in attribute name: {}", repr_text(key));
    const Value value = to_text(heap, entry.value);
    if (!out.empty()) out += ' ';
    out += fmt::format("{}=\"{}\"", entry.key.safe() ? std::string(key) : escape_html(key),
                       value.safe() ? std::string(value.as_text()) : escape_html(value.as_text()));
    heap.step();
    heap.expect_room(out.size());
  }
  if (bound.flag(0, true) && !out.empty()) out.insert(0, 1, ' ');
  return new_text(heap, out);
}

}  // namespace

std::span<const FilterEntry> markup_filters() {
  static constexpr FilterEntry kFilters[] = {
      {"safe", safe},
      {"escape", escape},
      {"e", escape},
      {"forceescape", force_escape},
      {"striptags", strip_tags},
      {"urlencode", url_encode},
      {"xmlattr", xml_attributes},
  };
  return kFilters;
}

}  // namespace teapot::text::jinja
