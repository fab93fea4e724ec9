#include "workbench/tune/catalogue_summary.h"

#include <algorithm>

#include "workbench/tune/catalogue_names.h"
#include "workbench/tune/check_form.h"
#include "workbench/tune/counters.h"

namespace teapot::workbench {
namespace {

// "host 12, comm 3": the names of a table with the number of knobs that have them.
template <class T, size_t N, class Of>
std::string counts(const Catalogue& catalogue, const NameTable<T, N>& table, const Of& of) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : table) {
    const auto count = std::ranges::count_if(catalogue.knobs, [&](const Knob& knob) { return of(knob) == value; });
    if (count > 0) parts.push_back(fmt::format("{} {}", name, count));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ranks(const Catalogue& catalogue) {
  std::vector<std::string> parts;
  for (int rank = 1; rank <= 5; ++rank) {
    parts.push_back(fmt::format("{}: {}", rank, std::ranges::count(catalogue.knobs, rank, &Knob::rank)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string not_evaluated(const Catalogue& catalogue) {
  std::string text;
  for (const Knob& knob : catalogue.knobs) {
    const auto add = [&](const char* what, const std::vector<Condition>& conditions) {
      for (const Condition& condition : conditions) {
        if (condition.relation == Relation::kText)
          text += fmt::format("    line {}: {} {} \"{}\"\n", condition.line, knob.name, what, condition.text);
      }
    };
    add("requires", knob.requires_);
    add("conflicts with", knob.conflicts);
  }
  return text;
}

// Of the checks that are there at all.
std::string looked_at(const Catalogue& catalogue) {
  size_t judged = 0;
  std::vector<std::string_view> prose;
  for (const Knob& knob : catalogue.knobs) {
    if (knob.check == CheckKind::kNone) continue;
    const auto forms = parse_check(knob.check, knob.check_what);
    if (forms && is_judged(*forms)) {
      ++judged;
    } else {
      prose.push_back(knob.name);
    }
  }
  std::string text = fmt::format("  looked at by the tuner: {} of {} checks\n", judged, judged + prose.size());
  if (!prose.empty()) text += fmt::format("  by people, their words are prose: {}\n", fmt::join(prose, ", "));
  return text;
}

}  // namespace

std::string summary(const Catalogue& catalogue) {
  size_t values = 0, conditions = 0;
  for (const Knob& knob : catalogue.knobs) {
    values += knob.values.size();
    conditions += knob.requires_.size() + knob.conflicts.size();
  }
  const auto unverified = std::ranges::count(catalogue.knobs, false, &Knob::verified);
  std::string text = fmt::format("{} {}: {} knobs with {} values, {} conditions, {} gone\n", catalogue.server, catalogue.version,
                                 catalogue.knobs.size(), values, conditions, catalogue.gone.size());
  text += fmt::format("  scope: {}\n", counts(catalogue, kKnobScopes, [](const Knob& knob) { return knob.scope; }));
  text += fmt::format("  rank: {}\n", ranks(catalogue));
  text += fmt::format("  set by: {}\n", counts(catalogue, kSetKinds, [](const Knob& knob) { return knob.set.kind; }));
  text += fmt::format("  text: {}\n", counts(catalogue, kTextRisks, [](const Knob& knob) { return knob.text; }));
  text += fmt::format("  check: {}\n", counts(catalogue, kCheckKinds, [](const Knob& knob) { return knob.check; }));
  text += looked_at(catalogue);
  const std::string& acceptance = catalogue.launch.acceptance;
  if (!acceptance.empty() && !ratio_in(acceptance))
    text += "  acceptance is no ratio of two counters: it is guarded only where replies tell of their drafts\n";
  if (unverified > 0) text += fmt::format("  not seen in a source: {}\n", unverified);
  const Knob* drafted = catalogue.drafted_tokens();
  if (std::ranges::any_of(catalogue.knobs, follows_step))
    text += fmt::format("  tokens of a step: users x {}\n",
                        drafted == nullptr ? "1, no knob says what is drafted" : "(1 + " + drafted->name + ")");
  const std::string shown_only = not_evaluated(catalogue);
  if (!shown_only.empty()) text += "  conditions for the reader, not evaluated:\n" + shown_only;
  return text;
}

}  // namespace teapot::workbench
