// One knob of a catalogue's YAML. Faults are collected: reading goes on behind them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/tune/catalogue.h"
#include "workbench/yaml_fields.h"

namespace teapot::workbench {

// Takes the error of a Status, if it has one.
class Faults {
 public:
  explicit Faults(std::vector<Error>& list) : list_(list) {}
  void operator()(const Status& status) const {
    if (!status) list_.push_back(status.error());
  }
  void missing(const YamlFields& fields, std::string_view key) const {
    if (!fields.has(key)) (*this)(fields.wrong(key, "is missing"));
  }

 private:
  std::vector<Error>& list_;
};

struct KnobNode {
  Knob knob;                         // without its conditions
  std::optional<YamlFields> fields;  // nothing: it is no mapping
};

// number: counted from 1, names it in messages.
KnobNode read_knob(const YAML::Node& node, const std::string& source, size_t number, std::vector<Error>& faults);

// key: "requires" or "conflicts". The catalogue must have all its knobs.
void read_conditions(const KnobNode& node, const char* key, const Catalogue& catalogue, std::vector<Condition>& conditions,
                     std::vector<Error>& faults);

}  // namespace teapot::workbench
