#include "workbench/yaml_fields.h"

#include <algorithm>
#include <charconv>

namespace teapot::workbench {

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

std::string shown(const YAML::Node& node) {
  constexpr size_t kMost = 60;
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "'" + (node.Scalar().size() <= kMost ? node.Scalar() : node.Scalar().substr(0, kMost) + "...") + "'";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

std::optional<YamlFields> YamlFields::of(const YAML::Node& node, std::string source, std::string what,
                                         std::initializer_list<std::string_view> keys, std::vector<Error>& faults) {
  YamlFields fields;
  fields.node_ = node;
  fields.source_ = std::move(source);
  fields.what_ = std::move(what);
  const auto wrong = [&](const YAML::Node& place, const std::string& message) {
    faults.push_back(fields.wrong_at(place, message).error());
  };
  if (!node.IsMap()) {
    wrong(node, fmt::format("found {}, expected a mapping", shown(node)));
    return std::nullopt;
  }
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : shown(entry.first);
    if (std::ranges::find(keys, name) == keys.end()) {
      wrong(entry.first, fmt::format("unknown key {}, expected one of: {}", shown(entry.first), fmt::join(keys, ", ")));
    } else if (fields.has(name)) {
      wrong(entry.first, fmt::format("the key '{}' stands twice", name));
    } else {
      fields.fields_.emplace_back(name, entry.second);
    }
  }
  return fields;
}

Result<YamlFields> YamlFields::of(const YAML::Node& node, std::string source, std::string what,
                                  std::initializer_list<std::string_view> keys) {
  std::vector<Error> faults;
  auto fields = of(node, std::move(source), std::move(what), keys, faults);
  if (!faults.empty()) return std::unexpected(std::move(faults.front()));
  return *std::move(fields);
}

const YAML::Node* YamlFields::find(std::string_view key) const {
  const auto at = std::ranges::find(fields_, key, &std::pair<std::string, YAML::Node>::first);
  return at == fields_.end() ? nullptr : &at->second;
}

std::unexpected<Error> YamlFields::wrong_at(const YAML::Node& node, const std::string& message) const {
  return fail(ErrorKind::kInvalid, "{}:{}: {}: {}", source_, line_of(node), what_, message);
}

std::unexpected<Error> YamlFields::wrong(std::string_view key, const std::string& message) const {
  const YAML::Node* node = find(key);
  return wrong_at(node == nullptr ? node_ : *node, fmt::format("{}: {}", key, message));
}

Status YamlFields::read(std::string_view key, std::string& value) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) return {};
  if (!node->IsScalar() || node->Scalar().empty()) return wrong(key, fmt::format("found {}, expected text", shown(*node)));
  value = node->Scalar();
  return {};
}

Status YamlFields::read(std::string_view key, bool& value) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) return {};
  if (!node->IsScalar() || (node->Scalar() != "true" && node->Scalar() != "false")) {
    return wrong(key, fmt::format("found {}, expected true or false", shown(*node)));
  }
  value = node->Scalar() == "true";
  return {};
}

Status YamlFields::read(std::string_view key, double& value, double min, double max) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) return {};
  double number = 0;
  const std::string text = node->IsScalar() ? node->Scalar() : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // Written so that a NaN fails.
  if (error != std::errc{} || end != text.data() + text.size() || !(number >= min && number <= max)) {
    return wrong(key, fmt::format("found {}, expected a number from {} to {}", shown(*node), min, max));
  }
  value = number;
  return {};
}

Status YamlFields::read(std::string_view key, std::vector<std::string>& value) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) return {};
  if (!node->IsSequence()) return wrong(key, fmt::format("found {}, expected a list of text", shown(*node)));
  value.clear();
  for (const YAML::Node& item : *node) {
    if (!item.IsScalar()) return wrong_at(item, fmt::format("{}: found {}, expected text", key, shown(item)));
    value.push_back(item.Scalar());
  }
  return {};
}

Status YamlFields::read(std::string_view key, std::vector<uint32_t>& value, uint64_t min, uint64_t max) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) return {};
  std::vector<uint32_t> numbers;
  uint64_t number = 0;
  if (node->IsSequence()) {
    for (const YAML::Node& item : *node) {
      TEAPOT_CHECK(read_number(item, key, number, min, max));
      numbers.push_back(static_cast<uint32_t>(number));
    }
    if (numbers.empty()) return wrong(key, "found an empty list, expected at least one number");
  } else {
    TEAPOT_CHECK(read_number(*node, key, number, min, max));
    numbers.push_back(static_cast<uint32_t>(number));
  }
  value = std::move(numbers);
  return {};
}

Status YamlFields::read_number(const YAML::Node& node, std::string_view key, uint64_t& value, uint64_t min, uint64_t max) const {
  const std::string text = node.IsScalar() ? node.Scalar() : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < min || value > max) {
    return wrong_at(node, fmt::format("{}: found {}, expected a whole number from {} to {}", key, shown(node), min, max));
  }
  return {};
}

}  // namespace teapot::workbench
