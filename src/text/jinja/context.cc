#include "text/jinja/context.h"

#include <limits>

namespace teapot::text::jinja {
namespace {

Value convert(Heap& heap, const Json& json, uint32_t depth) {
  heap.step();
  if (depth > kMaxNesting) raise(TemplateErrorKind::kBudget, "the context nests deeper than {} levels", kMaxNesting);
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer:
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        raise_runtime("the context has the integer {}, which does not fit into 64 bits with a sign", json.get<uint64_t>());
      }
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_float:
      return Value::real(json.get<double>());
    case Json::value_t::string:
      return Value::text(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json) items.push_back(convert(heap, item, depth + 1));
      return new_list(heap, items);
    }
    case Json::value_t::object: {
      std::vector<Entry> entries;
      entries.reserve(json.size());
      for (const auto& [key, value] : json.items()) entries.push_back({Value::text(key), convert(heap, value, depth + 1)});
      return new_dict(heap, entries);
    }
    default:
      return {};
  }
}

}  // namespace

Value to_value(Heap& heap, const Json& json) { return convert(heap, json, 1); }

}  // namespace teapot::text::jinja
