#include "workbench/tune/catalogue.h"

#include <algorithm>

#include "base/file.h"
#include "workbench/assets.h"
#include "workbench/tune/catalogue_names.h"
#include "workbench/tune/step_values.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kSuffix = ".yaml";

bool refers_to(const Knob& knob, const Knob& other) {
  return std::ranges::any_of(knob.requires_, [&](const Condition& condition) { return condition.knob == other.name; });
}

}  // namespace

std::string_view to_string(SetKind kind) { return name_in(kSetKinds, kind); }
std::string_view to_string(KnobType type) { return name_in(kKnobTypes, type); }
std::string_view to_string(KnobScope scope) { return name_in(kKnobScopes, scope); }
std::string_view to_string(TextRisk risk) { return name_in(kTextRisks, risk); }
std::string_view to_string(CheckKind kind) { return name_in(kCheckKinds, kind); }

bool same_place(const KnobSet& a, const KnobSet& b) {
  return a.kind != SetKind::kPrefix && a.kind == b.kind && a.name == b.name && a.json_key == b.json_key;
}

bool follows_step(const Knob& knob) {
  return std::ranges::any_of(knob.values, [](const KnobValue& value) {
    const auto names = value ? references_in(*value) : std::vector<std::string>();
    return std::ranges::any_of(names, [](const std::string& name) { return name == kExactStepTokens || name == kMaxStepTokens; });
  });
}

const Knob* Catalogue::find(std::string_view name) const {
  const auto at = std::ranges::find(knobs, name, &Knob::name);
  return at == knobs.end() ? nullptr : &*at;
}

const Knob* Catalogue::drafted_tokens() const {
  for (const Knob& sizes : knobs) {
    if (!follows_step(sizes)) continue;
    for (const Knob& knob : knobs) {
      const bool counts = knob.type == KnobType::kInt && knob.scope == KnobScope::kSpeculation;
      if (counts && (refers_to(knob, sizes) || refers_to(sizes, knob))) return &knob;
    }
  }
  return nullptr;
}

std::vector<std::string> shipped_catalogues() {
  std::vector<std::string> names;
  for (const std::string_view asset : asset_names()) {
    if (asset.ends_with(kSuffix)) names.emplace_back(asset.substr(0, asset.size() - kSuffix.size()));
  }
  std::ranges::sort(names);
  return names;
}

Result<Catalogue> load_catalogue(const std::string& path_or_name) {
  const bool is_path = path_or_name.contains('/') || path_or_name.ends_with(kSuffix) || path_or_name.ends_with(".yml");
  if (is_path) {
    TEAPOT_TRY(const std::string text, read_file(path_or_name));
    return parse_catalogue(text, path_or_name);
  }
  const std::vector<std::string> shipped = shipped_catalogues();
  if (std::ranges::find(shipped, path_or_name) == shipped.end()) {
    return fail(ErrorKind::kNotFound, "no catalogue '{}': expected the path of a .yaml file, or one of {}", path_or_name,
                fmt::join(shipped, ", "));
  }
  const std::string file = path_or_name + std::string(kSuffix);
  return parse_catalogue(find_asset(file), file);
}

}  // namespace teapot::workbench
