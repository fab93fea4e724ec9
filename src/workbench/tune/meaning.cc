#include "workbench/tune/meaning.h"

#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

std::string one_form(const Knob& knob, const std::string& text) {
  if (knob.type == KnobType::kInt || knob.type == KnobType::kFloat) {
    if (const auto number = number_in(text)) return fmt::format("{}", *number);
  }
  if (knob.type == KnobType::kList) {
    if (const auto list = parse_json(text, knob.name)) return dump_json(*list);
  }
  return text;
}

}  // namespace

KnobProfile meaning_of(const Catalogue& catalogue, const KnobProfile& profile, const HostValues& host,
                       const std::vector<uint32_t>& parallel) {
  KnobProfile meaning;
  for (const auto& [name, value] : profile) {
    const Knob* knob = catalogue.find(name);
    if (knob == nullptr) continue;
    const auto means = [&](const KnobValue& written) -> KnobValue {
      if (!written) return written;
      const auto resolved = resolve_value(catalogue, profile, *knob, *written, host, parallel);
      return one_form(*knob, resolved ? *resolved : *written);
    };
    const KnobValue found = means(value);
    if (found != means(knob->default_value())) meaning[name] = found;
  }
  return meaning;
}

}  // namespace teapot::workbench
