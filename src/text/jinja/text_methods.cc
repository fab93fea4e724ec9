// Methods of str. On text that is marked safe, what Markup keeps safe stays so; the methods that would escape their arguments
// are refused there.
#include <algorithm>
#include <limits>

#include "text/jinja/arguments.h"
#include "text/jinja/case_mapping.h"
#include "text/jinja/characters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/slice.h"
#include "text/jinja/str_format.h"

namespace teapot::text::jinja {
namespace {

void refuse_safe(const Value& self, std::string_view method) {
  if (self.safe()) raise_runtime("{}() of text marked safe is not supported", method);
}

template <bool kLeft, bool kRight>
Value strip_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  const auto bound = bind("strip", arguments, "chars");
  std::optional<std::string_view> set;
  if (const Value* chars = bound.unless_none(0)) set = require_text(*chars, "strip arg");
  return Value::text(strip(self.as_text(), kLeft, kRight, set), self.safe());
}

template <std::string (*kMapping)(std::string_view)>
Value case_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  expect_no_arguments("a case method", arguments);
  heap.expect_room(self.as_text().size());
  return new_text(heap, kMapping(self.as_text()), self.safe());
}

// The part of the text between the optional arguments start and end, and where it begins.
struct Part {
  std::string_view text;
  int64_t first;  // in characters
  bool possible;  // false: start lies behind the end, where not even "" is found
};

Part part_between(Heap& heap, std::string_view text, const Value* start, const Value* end) {
  heap.step_over(text);
  if (start == nullptr && end == nullptr) return {text, 0, true};
  const auto size = static_cast<int64_t>(count_characters(text));
  const auto place = [size](const Value* value, int64_t fallback) {
    if (value == nullptr) return fallback;
    const int64_t index = require_integer(*value, "slice indices");
    return index < 0 ? std::max<int64_t>(index + size, 0) : index;
  };
  const int64_t first = place(start, 0);
  const int64_t last = std::min(place(end, size), size);
  if (first > last) return {{}, first, false};
  const size_t from = byte_offset(text, static_cast<size_t>(first));
  return {text.substr(from, byte_offset(text, static_cast<size_t>(last)) - from), first, true};
}

template <bool kStart>
Value affix_method(Heap& heap, const Value& self, const Arguments& arguments) {
  const std::string_view name = kStart ? "startswith" : "endswith";
  const auto bound = bind(name, arguments, "prefix", "start", "end");
  const Part part = part_between(heap, self.as_text(), bound.unless_none(1), bound.unless_none(2));
  const auto matches = [&](const Value& affix) {
    const std::string_view text = require_text(affix, fmt::format("{} first arg", name));
    return part.possible && (kStart ? part.text.starts_with(text) : part.text.ends_with(text));
  };
  const Value& affix = bound.required(0);
  if (!affix.is(Type::kTuple)) return Value::boolean(matches(affix));
  heap.step(affix.as_sequence().items.size());
  return Value::boolean(std::ranges::any_of(affix.as_sequence().items, matches));
}

// Index in characters, or -1.
template <bool kLast>
int64_t find_text(Heap& heap, const Value& self, const Arguments& arguments, std::string_view name) {
  const auto bound = bind(name, arguments, "sub", "start", "end");
  const Part part = part_between(heap, self.as_text(), bound.unless_none(1), bound.unless_none(2));
  const std::string_view wanted = require_text(bound.required(0), "must be str: the text to look for");
  const size_t at = kLast ? part.text.rfind(wanted) : part.text.find(wanted);
  if (!part.possible || at == part.text.npos) return -1;
  return part.first + static_cast<int64_t>(count_characters(part.text.substr(0, at)));
}

template <bool kLast>
Value find_method_of_text(Heap& heap, const Value& self, const Arguments& arguments) {
  return Value::integer(find_text<kLast>(heap, self, arguments, kLast ? "rfind" : "find"));
}

template <bool kLast>
Value index_method(Heap& heap, const Value& self, const Arguments& arguments) {
  const int64_t index = find_text<kLast>(heap, self, arguments, kLast ? "rindex" : "index");
  if (index < 0) raise_runtime("substring not found");
  return Value::integer(index);
}

Value count_method(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto bound = bind("count", arguments, "sub", "start", "end");
  const Part part = part_between(heap, self.as_text(), bound.unless_none(1), bound.unless_none(2));
  const std::string_view wanted = require_text(bound.required(0), "the text to count");
  if (!part.possible) return Value::integer(0);
  if (wanted.empty()) return Value::integer(static_cast<int64_t>(count_characters(part.text)) + 1);
  int64_t count = 0;
  for (size_t at = part.text.find(wanted); at != part.text.npos; at = part.text.find(wanted, at + wanted.size())) ++count;
  return Value::integer(count);
}

// How many pieces split may cut off; "all" is -1 or None in Python.
size_t split_limit(const Value* limit) {
  if (limit == nullptr) return std::numeric_limits<size_t>::max();
  const int64_t count = require_integer(*limit, "maxsplit");
  return count < 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(count);
}

std::vector<std::string_view> split_at_spaces(std::string_view text, size_t limit, bool from_right) {
  std::vector<std::string_view> pieces;
  text = strip(text, !from_right, from_right, std::nullopt);
  while (!text.empty()) {
    if (pieces.size() == limit) {
      pieces.push_back(text);
      break;
    }
    size_t word = 0;  // bytes of the next word, from the side where we are
    while (word < text.size()) {
      const std::string_view rest = from_right ? text.substr(0, text.size() - word) : text.substr(word);
      if (from_right ? trailing_space(rest) > 0 : leading_space(rest) > 0) break;
      if (from_right) {
        size_t bytes = 1;
        while (bytes < rest.size() && (static_cast<uint8_t>(rest[rest.size() - bytes]) & 0xC0) == 0x80) ++bytes;
        word += bytes;
      } else {
        word += character_bytes(rest);
      }
    }
    pieces.push_back(from_right ? text.substr(text.size() - word) : text.substr(0, word));
    text = from_right ? text.substr(0, text.size() - word) : text.substr(word);
    text = strip(text, !from_right, from_right, std::nullopt);
  }
  if (from_right) std::ranges::reverse(pieces);
  return pieces;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, size_t limit, bool from_right) {
  std::vector<std::string_view> pieces;
  while (pieces.size() < limit) {
    const size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == text.npos) break;
    pieces.push_back(from_right ? text.substr(at + separator.size()) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(at + separator.size());
  }
  pieces.push_back(text);
  if (from_right) std::ranges::reverse(pieces);
  return pieces;
}

Value texts_to_list(Heap& heap, const std::vector<std::string_view>& pieces, bool safe) {
  std::vector<Value> items;
  items.reserve(pieces.size());
  for (const std::string_view piece : pieces) items.push_back(Value::text(piece, safe));
  return new_list(heap, items);
}

template <bool kFromRight>
Value split_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  const auto bound = bind("split", arguments, "sep", "maxsplit");
  const size_t limit = split_limit(bound[1]);
  const Value* separator = bound.unless_none(0);
  heap.expect_room(self.as_text().size() * 2);  // the pieces are counted once they are there
  if (separator == nullptr) return texts_to_list(heap, split_at_spaces(self.as_text(), limit, kFromRight), self.safe());
  const std::string_view text = require_text(*separator, "must be str or None: the separator");
  if (text.empty()) raise_runtime("empty separator");
  return texts_to_list(heap, split_at(self.as_text(), text, limit, kFromRight), self.safe());
}

Value splitlines_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  const auto bound = bind("splitlines", arguments, "keepends");
  return texts_to_list(heap, split_lines(self.as_text(), bound.flag(0)), self.safe());
}

template <bool kLast>
Value partition_method(Heap& heap, const Value& self, const Arguments& arguments) {
  refuse_safe(self, "partition");
  heap.step_over(self.as_text());
  const auto bound = bind("partition", arguments, "sep");
  const std::string_view separator = require_text(bound.required(0), "the separator");
  if (separator.empty()) raise_runtime("empty separator");
  const std::string_view text = self.as_text();
  const size_t at = kLast ? text.rfind(separator) : text.find(separator);
  if (at == text.npos) {
    const Value nothing = Value::text("");
    return kLast ? new_tuple(heap, {nothing, nothing, self}) : new_tuple(heap, {self, nothing, nothing});
  }
  return new_tuple(heap, {Value::text(text.substr(0, at)), Value::text(separator), Value::text(text.substr(at + separator.size()))});
}

Value replace_method(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto bound = bind("replace", arguments, "old", "new", "count");
  const Value& old = bound.required(0);
  const Value& fresh = bound.required(1);
  require_text(old, "replace() argument 1");
  require_text(fresh, "replace() argument 2");
  return replace_text(heap, self, old, fresh, bound[2] == nullptr ? -1 : require_integer(*bound[2], "count"));
}

Value join_method(Heap& heap, const Value& self, const Arguments& arguments) {
  refuse_safe(self, "join");
  const auto bound = bind("join", arguments, "iterable");
  std::string text;
  size_t index = 0;
  Walk walk(heap, bound.required(0));
  for (Value item; walk.next(item); ++index) {
    if (!item.is_text()) raise_runtime("sequence item {}: expected str instance, {} found", index, type_name(item));
    if (index > 0) text += self.as_text();
    text += item.as_text();
    heap.expect_room(text.size());
  }
  return new_text(heap, text);
}

template <bool (*kIs)(char32_t)>
Value all_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  expect_no_arguments("a question about characters", arguments);
  return Value::boolean(!self.as_text().empty() && std::ranges::all_of(decode(self.as_text()), kIs));
}

bool is_letter_or_digit(char32_t code) {
  // isalnum also takes what isnumeric takes; outside ASCII that needs tables which we do not have.
  if (code >= 0x80 && !is_letter(code) && !is_digit(code) && is_word(code)) raise_runtime("isalnum() of such a character is not supported");
  return is_letter(code) || is_digit(code);
}

// Whether all cased characters are of this case, and there is one.
template <bool (*kIs)(char32_t)>
Value all_cased_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  expect_no_arguments("a question about case", arguments);
  bool found = false;
  for (const char32_t code : decode(self.as_text())) {
    if (!is_cased(code)) continue;
    if (!kIs(code)) return Value::boolean(false);
    found = true;
  }
  return Value::boolean(found);
}

Value isascii_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  expect_no_arguments("isascii", arguments);
  return Value::boolean(ascii_prefix(self.as_text()) == self.as_text().size());
}

Value isprintable_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  expect_no_arguments("isprintable", arguments);
  return Value::boolean(std::ranges::all_of(decode(self.as_text()), is_printable));
}

Value istitle_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  expect_no_arguments("istitle", arguments);
  bool inside = false;
  bool found = false;
  for (const char32_t code : decode(self.as_text())) {
    if (is_cased(code)) {
      if (is_lower(code) != inside) return Value::boolean(false);
      found = true;
    }
    inside = is_cased(code);
  }
  return Value::boolean(found);
}

enum class Side { kLeft, kRight, kBoth };

template <Side kPadded>
Value justify_method(Heap& heap, const Value& self, const Arguments& arguments) {
  refuse_safe(self, "justifying");
  const auto bound = bind("justify", arguments, "width", "fillchar");
  const std::string_view fill = bound[1] == nullptr ? " " : require_text(*bound[1], "the fill character");
  if (count_characters(fill) != 1) raise_runtime("The fill character must be exactly one character long");
  const int64_t width = require_integer(bound.required(0), "a width");
  if constexpr (kPadded == Side::kBoth) return center_text(heap, self.as_text(), width, fill);
  const auto size = static_cast<int64_t>(count_characters(self.as_text()));
  if (width <= size) return self;
  const Value padding = binary(heap, Operator::kMultiply, Value::text(fill), Value::integer(width - size));
  return kPadded == Side::kLeft ? binary(heap, Operator::kAdd, padding, self) : binary(heap, Operator::kAdd, self, padding);
}

Value zfill_method(Heap& heap, const Value& self, const Arguments& arguments) {
  refuse_safe(self, "zfill");
  const auto bound = bind("zfill", arguments, "width");
  const int64_t missing = require_integer(bound.required(0), "a width") - static_cast<int64_t>(count_characters(self.as_text()));
  if (missing <= 0) return self;
  const Value zeros = binary(heap, Operator::kMultiply, Value::text("0"), Value::integer(missing));
  const bool has_sign = self.as_text().starts_with('-') || self.as_text().starts_with('+');
  return new_text(
      heap, fmt::format("{}{}{}", self.as_text().substr(0, has_sign ? 1 : 0), zeros.as_text(), self.as_text().substr(has_sign ? 1 : 0)));
}

template <bool kPrefix>
Value remove_affix_method(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.step_over(self.as_text());
  const auto bound = bind(kPrefix ? "removeprefix" : "removesuffix", arguments, "affix");
  const std::string_view affix = require_text(bound.required(0), "the affix");
  std::string_view text = self.as_text();
  if (kPrefix && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!kPrefix && text.ends_with(affix)) text.remove_suffix(affix.size());
  return Value::text(text, self.safe());
}

Value format_method(Heap& heap, const Value& self, const Arguments& arguments) {
  refuse_safe(self, "format");
  return str_format(heap, self.as_text(), arguments);
}

}  // namespace

std::span<const MethodEntry> text_methods() {
  static constexpr MethodEntry kMethods[] = {
      {"capitalize", case_method<capitalize>},
      {"casefold", nullptr},
      {"center", justify_method<Side::kBoth>},
      {"count", count_method},
      {"encode", nullptr},
      {"endswith", affix_method<false>},
      {"expandtabs", nullptr},
      {"find", find_method_of_text<false>},
      {"format", format_method},
      {"format_map", nullptr},
      {"index", index_method<false>},
      {"isalnum", all_method<is_letter_or_digit>},
      {"isalpha", all_method<is_letter>},
      {"isascii", isascii_method},
      {"isdecimal", all_method<is_decimal>},
      {"isdigit", all_method<is_digit>},
      {"isidentifier", nullptr},
      {"islower", all_cased_method<is_lower>},
      {"isnumeric", nullptr},
      {"isprintable", isprintable_method},
      {"isspace", all_method<is_space>},
      {"istitle", istitle_method},
      {"isupper", all_cased_method<is_upper>},
      {"join", join_method},
      {"ljust", justify_method<Side::kRight>},
      {"lower", case_method<to_lower>},
      {"lstrip", strip_method<true, false>},
      {"maketrans", nullptr},
      {"partition", partition_method<false>},
      {"removeprefix", remove_affix_method<true>},
      {"removesuffix", remove_affix_method<false>},
      {"replace", replace_method},
      {"rfind", find_method_of_text<true>},
      {"rindex", index_method<true>},
      {"rjust", justify_method<Side::kLeft>},
      {"rpartition", partition_method<true>},
      {"rsplit", split_method<true>},
      {"rstrip", strip_method<false, true>},
      {"split", split_method<false>},
      {"splitlines", splitlines_method},
      {"startswith", affix_method<true>},
      {"strip", strip_method<true, true>},
      {"swapcase", case_method<swap_case>},
      {"title", case_method<to_title>},
      {"translate", nullptr},
      {"upper", case_method<to_upper>},
      {"zfill", zfill_method},
  };
  return kMethods;
}

}  // namespace teapot::text::jinja
