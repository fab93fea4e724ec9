// A YAML mapping read field by field: every fault names its line, what was found and what was expected.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "base/error.h"

namespace teapot::workbench {

// yaml-cpp throws; whoever uses this catches YAML::Exception around all of it.
class YamlFields {
 public:
  // what: "server 2", for messages. Anything but a mapping, an unknown key and one that stands twice are errors.
  static Result<YamlFields> of(const YAML::Node& node, std::string source, std::string what, std::initializer_list<std::string_view> keys);
  // The same for readers that collect: what is wrong with the keys goes to `faults`, and the others can be read. Nothing: not a mapping.
  static std::optional<YamlFields> of(const YAML::Node& node, std::string source, std::string what,
                                      std::initializer_list<std::string_view> keys, std::vector<Error>& faults);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The node under a key, or null.
  const YAML::Node* find(std::string_view key) const;

  // Each leaves `value` alone where the key is absent.
  Status read(std::string_view key, std::string& value) const;  // not empty
  Status read(std::string_view key, bool& value) const;         // true or false
  Status read(std::string_view key, double& value, double min, double max) const;
  Status read(std::string_view key, std::vector<std::string>& value) const;
  template <class T>
  Status read(std::string_view key, T& value, uint64_t min, uint64_t max) const {
    uint64_t number = 0;
    if (!has(key)) return {};
    TEAPOT_CHECK(read_number(*find(key), key, number, min, max));
    value = static_cast<T>(number);
    return {};
  }
  // One number, or a list of at least one.
  Status read(std::string_view key, std::vector<uint32_t>& value, uint64_t min, uint64_t max) const;

  // "FILE:LINE: WHAT: " and the message, at a key's place, or where the mapping begins if it is absent.
  std::unexpected<Error> wrong(std::string_view key, const std::string& message) const;
  std::unexpected<Error> wrong_at(const YAML::Node& node, const std::string& message) const;

 private:
  Status read_number(const YAML::Node& node, std::string_view key, uint64_t& value, uint64_t min, uint64_t max) const;

  YAML::Node node_;
  std::string source_, what_;
  std::vector<std::pair<std::string, YAML::Node>> fields_;
};

// A node as a message shows it: the text of a scalar, cut short, or what it is.
std::string shown(const YAML::Node& node);
int line_of(const YAML::Node& node);  // from 1

}  // namespace teapot::workbench
