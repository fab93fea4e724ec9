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

// Without dashes before it, "-" as "_".
std::string plain_name(std::string_view name) {
  while (name.starts_with('-') || name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  std::string plain(name);
  std::ranges::replace(plain, '-', '_');
  return plain;
}

// One of "--a, --b-*".
bool is_one_of(std::string_view name, std::string_view names) {
  const std::string wanted = plain_name(name);
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    std::string each = plain_name(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
    const bool all_that_begin = each.ends_with('*');
    if (all_that_begin) each.pop_back();
    if (all_that_begin ? wanted.starts_with(each) : wanted == each) return true;
  }
  return false;
}

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

std::string Catalogue::no_knob(std::string_view name) const {
  std::string text = fmt::format("the catalogue of {} has no knob '{}'", server, name);
  const auto at = std::ranges::find_if(gone, [&](const Gone& each) { return is_one_of(name, each.name); });
  return at == gone.end() ? text : fmt::format("{}; of {} it says: {} ({})", text, at->name, at->why, at->evidence);
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

Result<CatalogueText> read_catalogue(const std::string& path_or_name) {
  const bool is_path = path_or_name.contains('/') || path_or_name.ends_with(kSuffix) || path_or_name.ends_with(".yml");
  if (is_path) {
    TEAPOT_TRY(std::string text, read_file(path_or_name));
    return CatalogueText{path_or_name, std::move(text)};
  }
  const std::vector<std::string> shipped = shipped_catalogues();
  if (std::ranges::find(shipped, path_or_name) == shipped.end()) {
    return fail(ErrorKind::kNotFound, "no catalogue '{}': expected the path of a .yaml file, or one of {}", path_or_name,
                fmt::join(shipped, ", "));
  }
  const std::string file = path_or_name + std::string(kSuffix);
  return CatalogueText{file, std::string(find_asset(file))};
}

Result<Catalogue> load_catalogue(const std::string& path_or_name) {
  TEAPOT_TRY(const CatalogueText text, read_catalogue(path_or_name));
  return parse_catalogue(text.yaml, text.source);
}

}  // namespace teapot::workbench
