#include "workbench/tune/evidence.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/json.h"
#include "workbench/tune/check_form.h"
#include "workbench/tune/process_fields.h"
#include "workbench/tune/shell_words.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

struct Found {
  Seen seen = Seen::kNobodyCanTell;
  std::string what;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return out;
}

// "on" is "true" is "1".
std::string plain(std::string_view text) {
  std::string word = lower(text);
  if (const auto yes = yes_or_no(word)) return *yes ? "1" : "0";
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size()) return fmt::format("{}", number);
  return word;
}

// What is active then has another name.
bool lets_the_server_choose(std::string_view value) { return value == "auto" || value == "best" || value == "default" || value == "all"; }

std::string scalar_text(const Json& json) { return json.is_string() ? json.get<std::string>() : dump_json(json); }

// "a.b.c" through objects, and through lists of objects by their "name".
const Json* follow(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const std::string part(path.substr(0, dot));
    path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
    if (at->is_object()) {
      const auto found = at->find(part);
      if (found == at->end()) return nullptr;
      at = &*found;
    } else if (at->is_array()) {
      const auto found = std::ranges::find_if(*at, [&](const Json& each) {
        const auto name = each.is_object() ? each.find("name") : each.end();
        return each.is_object() && name != each.end() && *name == part;
      });
      if (found == at->end()) return nullptr;
      at = &*found;
    } else {
      return nullptr;
    }
  }
  return at;
}

Found look_at(const PageForm& form, const Knob&, const KnobValue& value, const Sources& sources) {
  const auto body = sources.get(form.target);
  if (!body) return {Seen::kNobodyCanTell, form.target + " does not answer"};
  const auto json = parse_json(*body, form.target);
  if (!json) return {Seen::kNobodyCanTell, json.error().message};
  const Json* found = follow(*json, form.path);
  if (found == nullptr) return {Seen::kNobodyCanTell, fmt::format("{} has no {}", form.target, form.path)};
  const std::string text = scalar_text(*found);
  std::string shown = fmt::format("{} says {} = {}", form.target, form.path, text);
  const size_t last = form.path.rfind('.');
  if (last != std::string::npos) {
    const Json* reason = follow(*json, form.path.substr(0, last) + ".reason");
    if (reason != nullptr && reason->is_string()) shown += ": " + reason->get<std::string>();
  }
  if (!value || lets_the_server_choose(*value)) return {Seen::kNobodyCanTell, shown};
  return {plain(text) == plain(*value) ? Seen::kYes : Seen::kNo, shown};
}

Found look_at(const CountForm& form, const Knob&, const KnobValue&, const Sources& sources) {
  using Expect = CountForm::Expect;
  Counters numbers = sources.grown;
  if (!form.file.empty()) {
    const auto text = sources.process(form.file);
    if (!text) return {Seen::kNobodyCanTell, fmt::format("/proc/PID/{} cannot be read", form.file)};
    numbers = numbers_in(*text);
  }
  const auto value = evaluate(form.formula, numbers);
  if (!value) return {Seen::kNobodyCanTell, value.error().message};
  const std::string shown = *value ? fmt::format("{} = {:g}", form.formula, **value) : form.formula + ": nothing was counted";
  if (form.expect == Expect::kShown) return {Seen::kNobodyCanTell, shown};
  const bool something = *value && **value != 0;
  return {something == (form.expect == Expect::kSomething) ? Seen::kYes : Seen::kNo, shown};
}

struct Text {
  std::string name;  // of where it is, for words
  std::optional<std::string> text;
};
Text text_of(const std::string& file, const Sources& sources) {
  if (file.empty()) return {"the log", sources.log};
  return {"/proc/PID/" + file, sources.process(file)};
}

// One that must be absent and is there, or one that must be there and isn't, says no; only one that is there says yes, but for a file of
// the process, which has all that there is.
Found presence(bool there, bool must_be_absent, bool whole, std::string shown) {
  if (there == must_be_absent) return {Seen::kNo, std::move(shown)};
  return {there || whole ? Seen::kYes : Seen::kNobodyCanTell, std::move(shown)};
}

Found look_at(const TextForm& form, const Knob&, const KnobValue&, const Sources& sources) {
  const Text where = text_of(form.file, sources);
  if (!where.text) return {Seen::kNobodyCanTell, where.name + " cannot be read"};
  const std::string& wanted = form.text == "{model}" ? sources.model : form.text;
  if (wanted.empty()) return {};
  const bool there = where.text->find(wanted) != std::string::npos;
  const std::string shown = form.file.empty() ? fmt::format("the log {} \"{}\"", there ? "says" : "does not say", wanted)
                                              : fmt::format("{} {} {}", where.name, there ? "names" : "does not name", wanted);
  return presence(there, form.must_be_absent, !form.file.empty(), shown);
}

// A prefix's value is a command: what it hands over is its last word.
std::string handed_over(const Knob& knob, const std::string& value) {
  if (knob.set.kind != SetKind::kPrefix) return value;
  const auto words = split_words(value);
  return words && !words->empty() ? words->back() : value;
}

Found look_at(const PatternForm& form, const Knob& knob, const KnobValue& value, const Sources& sources) {
  const Text where = text_of(form.file, sources);
  if (!where.text) return {Seen::kNobodyCanTell, where.name + " cannot be read"};
  const std::string expected = handed_over(knob, *value);
  const PatternMatch match = look_for(form.pattern, expected, *where.text);
  const std::string shown = match.kind == PatternMatch::Kind::kAsExpected
                                ? fmt::format("{} says \"{}\"", where.name, match.found)
                                : fmt::format("{} has nothing like /{}/", where.name, form.pattern.expression);
  if (!form.pattern.compares()) {
    return presence(match.kind == PatternMatch::Kind::kAsExpected, form.must_be_absent, !form.file.empty(), shown);
  }
  if (form.pattern.takes_the_value() && lets_the_server_choose(*value)) return {Seen::kNobodyCanTell, shown};
  if (match.kind == PatternMatch::Kind::kOther) {
    return {Seen::kNo, fmt::format("{} has {} in /{}/{}", where.name, match.found, form.pattern.expression,
                                   form.pattern.takes_the_value() ? fmt::format(", not {}", expected) : "")};
  }
  return {match.kind == PatternMatch::Kind::kAsExpected ? Seen::kYes : Seen::kNobodyCanTell, shown};
}

Found look_at(const FieldForm& form, const Knob& knob, const KnobValue& value, const Sources& sources) {
  const auto text = sources.process(form.file);
  if (!text) return {Seen::kNobodyCanTell, fmt::format("/proc/PID/{} cannot be read", form.file)};
  const std::string expected = handed_over(knob, *value);
  const std::vector<std::string> all = fields_in(*text, form.field);
  if (all.empty()) return {Seen::kNobodyCanTell, fmt::format("/proc/PID/{} has no {}", form.file, form.field)};
  const auto same = std::ranges::find_if(all, [&](const std::string& found) { return fits(found, expected); });
  const std::string shown = fmt::format("/proc/PID/{} has {} = {}", form.file, form.field, same == all.end() ? all.back() : *same);
  return {same != all.end() ? Seen::kYes : Seen::kNo, same != all.end() ? shown : fmt::format("{}, not {}", shown, expected)};
}

Found look_at(const EnvironForm&, const Knob& knob, const KnobValue& value, const Sources& sources) {
  const auto text = sources.process("environ");
  if (!text) return {Seen::kNobodyCanTell, "/proc/PID/environ cannot be read"};
  const std::string begin = knob.set.name + "=", wanted = begin + *value;
  for (size_t at = 0; at < text->size(); at = std::min(text->find('\0', at), text->size() - 1) + 1) {
    const std::string_view variable(text->c_str() + at);
    if (!variable.starts_with(begin)) continue;
    return {variable == wanted ? Seen::kYes : Seen::kNo, fmt::format("/proc/PID/environ has {}", variable)};
  }
  return {Seen::kNo, fmt::format("/proc/PID/environ has no {}", knob.set.name)};
}

// The value itself is shown there, so that also what is off can be seen.
bool shows_the_value(const CheckForm& form) {
  const auto* pattern = std::get_if<PatternForm>(&form);
  return std::holds_alternative<PageForm>(form) || std::holds_alternative<FieldForm>(form) || std::holds_alternative<EnvironForm>(form) ||
         (pattern != nullptr && pattern->pattern.takes_the_value());
}

Found look(const Knob& knob, const KnobValue& value, const Sources& sources) {
  const auto forms = parse_check(knob.check, knob.check_what);
  if (!forms) return {Seen::kNobodyCanTell, forms.error().message};
  Found found;
  for (const CheckForm& form : *forms) {
    Found now;
    if (!value && !std::holds_alternative<PageForm>(form)) {
      now = {Seen::kNobodyCanTell, "it is left out"};
    } else if (!shows_the_value(form) && !in_force(value)) {
      now = {Seen::kNobodyCanTell, "it is off"};
    } else {
      now = std::visit([&](const auto& one) { return look_at(one, knob, value, sources); }, form);
    }
    if (now.seen == Seen::kNo) return now;
    if (found.seen != Seen::kYes) found = std::move(now);
  }
  return found;
}

}  // namespace

Evidence look_for(const Knob& knob, const KnobValue& value, const Sources& sources) {
  const Found found = look(knob, value, sources);
  Evidence evidence{.knob = knob.name, .seen = found.seen, .what = found.what};
  if (knob.check == CheckKind::kEcho && found.seen == Seen::kYes) {
    evidence.seen = Seen::kNobodyCanTell;
    evidence.what += ": handed over, nothing shows its use";
  }
  if (!evidence.what.empty()) return evidence;
  evidence.what = knob.check_what.empty() ? fmt::format("nothing to look at ({})", to_string(knob.check))
                                          : fmt::format("not looked at ({}): {}", to_string(knob.check), knob.check_what);
  return evidence;
}

}  // namespace teapot::workbench
