#include "text/jinja/globals.h"

#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/iterate.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

constexpr int64_t kMaxRange = 100'000;  // of Jinja's sandbox

Value range(Heap& heap, const std::tm& /*now*/, const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (given.empty() || given.size() > 3 || !arguments.keywords.empty()) raise_runtime("range takes 1 to 3 positional arguments");
  Range r{0, 0, 1};
  if (given.size() == 1) {
    r.stop = require_integer(given[0], "an argument of range");
  } else {
    r.start = require_integer(given[0], "an argument of range");
    r.stop = require_integer(given[1], "an argument of range");
    if (given.size() == 3) r.step = require_integer(given[2], "an argument of range");
  }
  if (r.step == 0) raise_runtime("range() arg 3 must not be zero");
  // The size as unsigned, since the widest range has 2^64 - 1 items.
  if (const auto size = static_cast<uint64_t>(r.size()); size > kMaxRange) {
    raise_runtime("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", kMaxRange);
  }
  return Value::of(heap.make(r));
}

// dict(mapping or pairs, key=value...), also what namespace() starts with.
std::vector<Entry> pairs_of(Heap& heap, std::string_view function, const Arguments& arguments) {
  if (arguments.positional.size() > 1) raise_runtime("{} expected at most 1 argument, got {}", function, arguments.positional.size());
  DictBuilder builder(heap);
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is(Type::kDict)) {
      for (const Entry& entry : source.as_dict().entries) builder.set(entry.key, entry.value);
    } else {
      Walk walk(heap, source);
      for (Value item; walk.next(item);) {
        const std::vector<Value> pair = to_items(heap, item);
        if (pair.size() != 2) raise_runtime("dictionary update sequence element has length {}; 2 is required", pair.size());
        builder.set(pair[0], pair[1]);
      }
    }
  }
  for (const auto& keyword : arguments.keywords) builder.set(Value::text(keyword.name), keyword.value);
  const Value dict = builder.take();
  return {dict.as_dict().entries.begin(), dict.as_dict().entries.end()};
}

Value dict(Heap& heap, const std::tm& /*now*/, const Arguments& arguments) { return new_dict(heap, pairs_of(heap, "dict", arguments)); }

Value name_space(Heap& heap, const std::tm& /*now*/, const Arguments& arguments) {
  Namespace* space = heap.make(Namespace{});
  for (const Entry& entry : pairs_of(heap, "namespace", arguments)) {
    if (!entry.key.is_text()) raise_runtime("names in a namespace must be texts, not '{}'", type_name(entry.key));
    set(heap, *space, entry.key.as_text(), entry.value);
  }
  return Value::of(space);
}

Value joiner(Heap& heap, const std::tm& /*now*/, const Arguments& arguments) {
  const auto bound = bind("joiner", arguments, "sep");
  return Value::of(heap.make(Joiner{bound[0] == nullptr ? ", " : require_text(*bound[0], "a separator")}));
}

Value cycler(Heap& heap, const std::tm& /*now*/, const Arguments& arguments) {
  if (!arguments.keywords.empty()) raise_runtime("cycler() takes no keyword arguments");
  if (arguments.positional.empty()) raise_runtime("at least one item has to be provided");
  return Value::of(heap.make(Cycler{heap.copy(arguments.positional)}));
}

Value raise_exception(Heap& heap, const std::tm& /*now*/, const Arguments& arguments) {
  const auto bound = bind("raise_exception", arguments, "message");
  throw Failure{TemplateErrorKind::kRaise, std::string(to_plain_text(heap, bound.required(0))), std::nullopt};
}

Value strftime_now(Heap& heap, const std::tm& now, const Arguments& arguments) {
  const auto bound = bind("strftime_now", arguments, "format");
  const std::string_view format = require_text(bound.required(0), "a time format");
  heap.step_over(format);
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const char directive = ++i < format.size() ? format[i] : '\0';
    if (std::string_view("aAbBcdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%").find(directive) == std::string_view::npos || directive == '\0') {
      raise_runtime("strftime_now: '%{}' is not supported", directive == '\0' ? std::string_view() : format.substr(i, 1));
    }
    if (directive == 'z' || directive == 'Z') continue;  // Python's now() has no zone, so nothing is printed
    const char one[] = {'%', directive, '\0'};
    char buffer[64];
    out.append(buffer, std::strftime(buffer, sizeof(buffer), one, &now));
  }
  return new_text(heap, out);
}

Value next_of_cycler(Heap& /*heap*/, const Value& self, const Arguments& arguments) {
  expect_no_arguments("next", arguments);
  Cycler& cycler = self.as_cycler();
  const Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

Value reset_cycler(Heap& /*heap*/, const Value& self, const Arguments& arguments) {
  expect_no_arguments("reset", arguments);
  self.as_cycler().position = 0;
  return {};
}

constexpr MethodEntry kNext{"next", next_of_cycler};
constexpr MethodEntry kReset{"reset", reset_cycler};

}  // namespace

const Function* find_global(std::string_view name) {
  static constexpr Function kFunctions[] = {
      {"range", range},
      {"dict", dict},
      {"namespace", name_space},
      {"joiner", joiner},
      {"cycler", cycler},
      {"lipsum", nullptr},
      {"raise_exception", raise_exception},
      {"strftime_now", strftime_now},
      {"self", nullptr},
  };
  const auto* found = std::ranges::find(kFunctions, name, &Function::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

std::optional<Value> cycler_attribute(Heap& heap, const Value& cycler, std::string_view name) {
  if (name == "current") return cycler.as_cycler().items[cycler.as_cycler().position];
  if (name == "next") return Value::of(heap.make(Method{cycler, &kNext}));
  if (name == "reset") return Value::of(heap.make(Method{cycler, &kReset}));
  return std::nullopt;
}

}  // namespace teapot::text::jinja
