#include "workbench/tune/check_form.h"

#include <algorithm>
#include <array>
#include <optional>

#include "workbench/tune/counters.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kProcess = "/proc/PID/", kAbsent = " must be absent", kNextClause = "; ", kReply = "reply:";
constexpr std::array<std::string_view, 6> kFiles = {"maps", "numa_maps", "smaps_rollup", "status", "task/*/status", "limits"};

std::optional<PageForm> page_form(std::string_view what) {
  if (what.starts_with("GET ")) what.remove_prefix(4);
  const size_t blank = what.find(' ');
  if (!what.starts_with('/') || blank == what.npos) return std::nullopt;
  const std::string_view path = what.substr(blank + 1);
  if (path.empty() || path.find(' ') != path.npos) return std::nullopt;
  return PageForm{std::string(what.substr(0, blank)), std::string(path)};
}

// "FORMULA must not grow", "FORMULA must grow", "FORMULA changes", "FORMULA > 0", "FORMULA = 0.4..0.62", "FORMULA = 0". A range says what
// is usual; that there is anything at all is what shows that the setting is in force.
std::optional<CountForm> count_form(std::string_view what) {
  using Expect = CountForm::Expect;
  constexpr std::array<std::pair<std::string_view, Expect>, 4> kEnds = {{{" must not grow", Expect::kNothing},
                                                                         {" must grow", Expect::kSomething},
                                                                         {" changes", Expect::kSomething},
                                                                         {" > 0", Expect::kSomething}}};
  CountForm form;
  std::string_view formula = what;
  for (const auto& [end, meaning] : kEnds) {
    if (!what.ends_with(end)) continue;
    formula = what.substr(0, what.size() - end.size());
    form.expect = meaning;
  }
  if (const size_t equals = what.find(" = "); form.expect == Expect::kShown && equals != what.npos) {
    formula = what.substr(0, equals);
    form.expect = trimmed(what.substr(equals + 3)) == "0" ? Expect::kNothing : Expect::kSomething;
  }
  form.formula = trimmed(formula);
  if (!is_formula(form.formula)) return std::nullopt;
  return form;
}

// "/…/" or "/…/i" that begins here; a slash within is "\/". Nothing: it does not end.
struct PatternText {
  CheckPattern pattern;
  size_t size = 0;
};
std::optional<PatternText> pattern_at(std::string_view text) {
  size_t end = 1;
  while (end < text.size() && text[end] != '/') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  const bool caseless = text.substr(end + 1).starts_with('i');
  return PatternText{{.expression = std::string(text.substr(1, end - 1)), .caseless = caseless}, end + (caseless ? 2 : 1)};
}

Result<std::vector<CheckForm>> log_forms(std::string_view what) {
  std::vector<CheckForm> forms;
  size_t at = 0;
  while (at < what.size()) {
    const bool begins = at == 0 || what.substr(0, at).ends_with(kNextClause);
    if (what[at] == '"') {
      const size_t close = what.find('"', at + 1);
      if (close == what.npos) break;
      const std::string_view phrase = what.substr(at + 1, close - at - 1);
      at = close + 1;
      // Cut where it has dots for something that differs.
      const std::string_view text = trimmed(phrase.substr(0, phrase.find("..")));
      if (!text.empty()) forms.emplace_back(TextForm{"", std::string(text), what.substr(at).starts_with(kAbsent)});
      continue;
    }
    const auto found = begins && what[at] == '/' ? pattern_at(what.substr(at)) : std::nullopt;
    if (!found) {
      ++at;
      continue;
    }
    TEAPOT_CHECK(check(found->pattern));
    at += found->size;
    forms.emplace_back(PatternForm{"", found->pattern, what.substr(at).starts_with(kAbsent)});
  }
  return forms;
}

// One clause: "FILE names WORD", "FILE lacks WORD", "FILE /…/", "FILE FIELD = {value}", "FILE FORMULA > 0".
Result<std::optional<CheckForm>> process_form(std::string_view clause) {
  if (clause.starts_with(kProcess)) clause.remove_prefix(kProcess.size());
  const size_t blank = std::min(clause.find(' '), clause.size());
  const std::string file(clause.substr(0, blank));
  if (std::ranges::find(kFiles, file) == kFiles.end()) return std::nullopt;
  const std::string_view rest = trimmed(clause.substr(blank));
  constexpr std::array<std::pair<std::string_view, bool>, 2> kWords = {{{"names ", false}, {"lacks ", true}}};
  for (const auto& [word, absent] : kWords) {
    if (!rest.starts_with(word)) continue;
    const std::string_view text = trimmed(rest.substr(word.size()));
    if (text.empty() || text.find(' ') != text.npos) return std::nullopt;
    return TextForm{file, std::string(text), absent};
  }
  if (rest.starts_with('/')) {
    const auto found = pattern_at(rest);
    if (!found) return fail(ErrorKind::kInvalid, "'{}': expected a pattern between slashes", rest);
    TEAPOT_CHECK(check(found->pattern));
    return PatternForm{file, found->pattern, rest.substr(found->size).starts_with(kAbsent)};
  }
  constexpr std::string_view kEqual = " = {value}";
  if (rest.ends_with(kEqual)) return FieldForm{file, std::string(trimmed(rest.substr(0, rest.size() - kEqual.size())))};
  auto count = count_form(rest);
  if (!count || count->expect == CountForm::Expect::kShown) return std::nullopt;
  count->file = file;
  return *std::move(count);
}

Result<std::vector<CheckForm>> process_forms(std::string_view what) {
  std::vector<CheckForm> forms;
  while (!what.empty()) {
    const size_t end = std::min(what.find(kNextClause), what.size());
    TEAPOT_TRY(auto form, process_form(trimmed(what.substr(0, end))));
    if (form) forms.push_back(*std::move(form));
    what.remove_prefix(std::min(end + kNextClause.size(), what.size()));
  }
  return forms;
}

template <class Form>
std::vector<CheckForm> list_of(std::optional<Form> form) {
  std::vector<CheckForm> forms;
  if (form) forms.emplace_back(*std::move(form));
  return forms;
}

}  // namespace

Result<std::vector<CheckForm>> parse_check(CheckKind kind, std::string_view what) {
  switch (kind) {
    case CheckKind::kHttp:
      return what.starts_with(kReply) ? list_of(count_form(what)) : list_of(page_form(what));
    case CheckKind::kMetric:
      return list_of(count_form(what));
    case CheckKind::kLog:
      return log_forms(what);
    case CheckKind::kProcess:
      return process_forms(what);
    case CheckKind::kEcho:
      if (what.starts_with("environ")) return std::vector<CheckForm>{EnvironForm()};
      return list_of(page_form(what));
    default:
      return std::vector<CheckForm>();
  }
}

bool is_judged(const std::vector<CheckForm>& forms) {
  return std::ranges::any_of(forms, [](const CheckForm& form) {
    const auto* count = std::get_if<CountForm>(&form);
    return count == nullptr || count->expect != CountForm::Expect::kShown;
  });
}

}  // namespace teapot::workbench
