#include "workbench/bench/conditions.h"

#include <algorithm>

#include <fmt/format.h>

namespace teapot::workbench {
namespace {

std::string plain(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : dump_json(value);
}

std::string leaf(const Json& value) {
  if (!value.is_array()) return plain(value);
  std::string list;
  for (const Json& item : value) list += (list.empty() ? "" : " ") + plain(item);
  return list;
}

void add_rows(const Json& object, const std::string& path, std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (value.is_object() && value.size() == 2 && value.contains("requested") && value.contains("active")) {  // a switch
      const std::string requested = leaf(value["requested"]), active = leaf(value["active"]);
      rows.emplace_back(name, requested == active ? active : fmt::format("{} (requested {})", active, requested));
    } else if (value.is_object() && !value.empty()) {
      add_rows(value, name, rows);
    } else if (value.is_array() && std::ranges::any_of(value, [](const Json& item) { return item.is_structured(); })) {
      for (size_t i = 0; i < value.size(); ++i) add_rows(Json{{std::to_string(i), value[i]}}, name, rows);
    } else {
      rows.emplace_back(name, leaf(value));
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> condition_rows(const Json& conditions) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (conditions.is_object()) add_rows(conditions, "", rows);
  return rows;
}

}  // namespace teapot::workbench
