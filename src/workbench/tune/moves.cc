#include "workbench/tune/moves.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "workbench/tune/meaning.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

constexpr int kUnasked = 5;  // rank of controls and of other use cases
constexpr double kUnverified = 0.5;
constexpr size_t kOrderedValues = 4;

double expected_gain(const Knob& knob) {
  const double gain = knob.gain ? std::max(0.0, -knob.gain->first) : 0;
  return knob.verified ? gain : kUnverified * gain;
}

bool named(const SearchOptions& options, const Knob& knob) { return std::ranges::find(options.knobs, knob.name) != options.knobs.end(); }

std::optional<double> number_of(const KnobValue& value) { return value ? number_in(*value) : std::nullopt; }

}  // namespace

Result<std::vector<const Knob*>> ladder_of(const Catalogue& catalogue, const SearchOptions& options) {
  for (const std::string& name : options.knobs) {
    if (catalogue.find(name) == nullptr) return fail(ErrorKind::kInvalid, "--knobs: {}", catalogue.no_knob(name));
  }
  std::vector<const Knob*> ladder;
  for (const Knob& knob : catalogue.knobs) {
    const bool wanted = options.knobs.empty() ? knob.rank < kUnasked : named(options, knob);
    if (wanted) ladder.push_back(&knob);
  }
  std::ranges::sort(ladder, {}, [](const Knob* knob) { return std::tuple(knob->rank, -expected_gain(*knob), knob); });
  return ladder;
}

std::vector<KnobValue> values_to_try(const Catalogue& catalogue, const Knob& knob, const KnobProfile& base, const KnobProfile& incumbent,
                                     const SearchOptions& options) {
  const KnobValue& now = value_in(catalogue, incumbent, knob.name);
  const KnobValue& before = value_in(catalogue, base, knob.name);
  const auto meaning = [&](const KnobValue& value) {
    KnobProfile target = closure(catalogue, incumbent, {knob.name, value}).value_or(incumbent);
    target[knob.name] = value;
    return meaning_of(catalogue, target, options.host, options.parallel);
  };
  std::set<KnobProfile> known = {meaning_of(catalogue, incumbent, options.host, options.parallel), meaning(now), meaning(before)};
  std::vector<KnobValue> values;
  for (const KnobValue& value : knob.values) {
    if (value != now && value != before && known.insert(meaning(value)).second) values.push_back(value);
  }
  return values;
}

std::string refusal_of(const Knob& knob, const KnobValue& value, const SearchOptions& options) {
  if (knob.set.kind == SetKind::kHost) {
    return fmt::format("a setting of the machine, never made from here; its owner can: {} (with {})", knob.set.name,
                       value.value_or("nothing"));
  }
  if (!available(value, options.host)) return fmt::format("this machine has no {}", value.value_or(""));
  if (knob.text == TextRisk::kLossy && options.allow_text != TextRisk::kLossy && in_force(value)) {
    return "it may change the model's answers: --allow-text lossy lets it";
  }
  return "";
}

TextRisk text_risk(const Catalogue& catalogue, const std::vector<Assignment>& changes) {
  TextRisk risk = TextRisk::kSame;
  for (const Assignment& change : changes) {
    const Knob* knob = catalogue.find(change.knob);
    if (knob != nullptr) risk = std::max(risk, knob->text);
  }
  return risk;
}

bool text_may_change(const Catalogue& catalogue, const std::vector<Assignment>& changes, const SearchOptions& options) {
  const TextRisk risk = text_risk(catalogue, changes);
  return risk != TextRisk::kSame && risk <= options.allow_text;
}

bool related(const Knob& one, const Knob& other) {
  const auto needs = [](const Knob& knob, const Knob& what) { return std::ranges::count(knob.requires_, what.name, &Condition::knob) > 0; };
  return one.scope == other.scope || needs(one, other) || needs(other, one);
}

std::vector<KnobValue> neighbours(const Knob& knob, const KnobValue& value) {
  std::vector<std::pair<double, KnobValue>> ordered;
  for (const KnobValue& each : knob.values) {
    if (const auto number = number_of(each)) ordered.emplace_back(*number, each);
  }
  const bool numbers = knob.type == KnobType::kInt || knob.type == KnobType::kFloat;
  const auto size = &std::pair<double, KnobValue>::first;
  std::ranges::sort(ordered);
  const auto twice = std::ranges::unique(ordered, {}, size);
  ordered.erase(twice.begin(), twice.end());
  const std::optional<double> number = number_of(value);
  if (!numbers || ordered.size() < kOrderedValues || !number) return {};
  const auto at = std::ranges::find(ordered, *number, size);
  std::vector<KnobValue> found;
  if (at == ordered.end()) return found;
  if (at != ordered.begin()) found.push_back(std::prev(at)->second);
  if (std::next(at) != ordered.end()) found.push_back(std::next(at)->second);
  return found;
}

}  // namespace teapot::workbench
