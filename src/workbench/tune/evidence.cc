#include "workbench/tune/evidence.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/json.h"

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
  for (const std::string_view yes : {"true", "on", "yes", "enabled"}) {
    if (word == yes) return "1";
  }
  for (const std::string_view no : {"false", "off", "no", "disabled"}) {
    if (word == no) return "0";
  }
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size()) return fmt::format("{}", number);
  return word;
}

// What is active then has another name.
bool lets_the_server_choose(std::string_view value) { return value == "auto" || value == "best" || value == "default"; }

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

// "GET /server_info threads.active", "/v1/status switches.wait.active"
Found look_at_page(std::string_view what, const KnobValue& value, const Sources& sources) {
  if (what.starts_with("GET ")) what.remove_prefix(4);
  const size_t blank = what.find(' ');
  if (!what.starts_with('/') || blank == what.npos) return {};
  const std::string target(what.substr(0, blank));
  std::string_view path = what.substr(blank + 1);
  if (path.empty() || path.find(' ') != path.npos) return {};
  const auto body = sources.get(target);
  if (!body) return {Seen::kNobodyCanTell, target + " does not answer"};
  const auto json = parse_json(*body, target);
  if (!json) return {Seen::kNobodyCanTell, json.error().message};
  const Json* found = follow(*json, path);
  if (found == nullptr) return {Seen::kNobodyCanTell, fmt::format("{} has no {}", target, path)};
  const std::string text = scalar_text(*found);
  std::string shown = fmt::format("{} says {} = {}", target, path, text);
  const size_t last = path.rfind('.');
  if (last != path.npos) {
    const Json* reason = follow(*json, std::string(path.substr(0, last)) + ".reason");
    if (reason != nullptr && reason->is_string()) shown += ": " + reason->get<std::string>();
  }
  if (!value || lets_the_server_choose(*value)) return {Seen::kNobodyCanTell, shown};
  return {plain(text) == plain(*value) ? Seen::kYes : Seen::kNo, shown};
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "FORMULA must not grow", "FORMULA must grow", "FORMULA changes", "FORMULA > 0", "FORMULA = 0.4..0.62", "FORMULA = 0": of what has grown
// since the server was ready. A range says what is usual; that there is anything at all is what shows that the setting is in force.
Found look_at_counters(std::string_view what, const Sources& sources) {
  enum class Expect : uint8_t { kShown, kNothing, kSomething };
  Expect expect = Expect::kShown;
  std::string_view formula = what;
  constexpr std::array<std::pair<std::string_view, Expect>, 4> kEnds = {{{" must not grow", Expect::kNothing},
                                                                         {" must grow", Expect::kSomething},
                                                                         {" changes", Expect::kSomething},
                                                                         {" > 0", Expect::kSomething}}};
  for (const auto& [end, meaning] : kEnds) {
    if (!what.ends_with(end)) continue;
    formula = what.substr(0, what.size() - end.size());
    expect = meaning;
  }
  if (const size_t equals = what.find(" = "); expect == Expect::kShown && equals != what.npos) {
    formula = what.substr(0, equals);
    expect = trim(what.substr(equals + 3)) == "0" ? Expect::kNothing : Expect::kSomething;
  }
  const auto value = evaluate(trim(formula), sources.grown);
  if (!value) return {Seen::kNobodyCanTell, value.error().message};
  const std::string shown =
      *value ? fmt::format("{} = {:g}", trim(formula), **value) : fmt::format("{}: nothing was counted", trim(formula));
  if (expect == Expect::kShown) return {Seen::kNobodyCanTell, shown};
  const bool something = *value && **value != 0;
  return {something == (expect == Expect::kSomething) ? Seen::kYes : Seen::kNo, shown};
}

struct Phrase {
  std::string text;
  bool must_be_absent = false;
};

// The texts between quotes, each cut where it has dots for something that differs.
std::vector<Phrase> quoted(std::string_view what) {
  std::vector<Phrase> phrases;
  for (size_t open = what.find('"'); open != what.npos;) {
    const size_t close = what.find('"', open + 1);
    if (close == what.npos) break;
    const std::string_view phrase = what.substr(open + 1, close - open - 1);
    std::string text(trim(phrase.substr(0, phrase.find(".."))));
    if (!text.empty()) phrases.push_back({std::move(text), what.substr(close + 1).starts_with(" must be absent")});
    open = what.find('"', close + 1);
  }
  return phrases;
}

// One phrase that must be absent and is there, or one that must be there and isn't, is enough to say no; only one that is there says yes.
Found look_at_log(std::string_view what, const Sources& sources) {
  Found found;
  for (const Phrase& phrase : quoted(what)) {
    const bool there = sources.log.find(phrase.text) != std::string::npos;
    const std::string shown = fmt::format("the log {} \"{}\"", there ? "says" : "does not say", phrase.text);
    if (there == phrase.must_be_absent) return {Seen::kNo, shown};
    if (there || found.seen != Seen::kYes) found = {there ? Seen::kYes : Seen::kNobodyCanTell, shown};
  }
  return found;
}

// "/proc/PID/maps names libjemalloc"
Found look_at_process(std::string_view what, const Sources& sources) {
  constexpr std::string_view kBegin = "/proc/PID/", kNames = " names ";
  const size_t names = what.find(kNames);
  if (!what.starts_with(kBegin) || names == what.npos) return {};
  const std::string file(what.substr(kBegin.size(), names - kBegin.size()));
  const std::string word(trim(what.substr(names + kNames.size())));
  if (word.empty() || file.find_first_of("/*") != file.npos) return {};
  const auto text = sources.process(file);
  if (!text) return {Seen::kNobodyCanTell, fmt::format("{} cannot be read", what.substr(0, names))};
  const bool there = text->find(word) != std::string::npos;
  return {there ? Seen::kYes : Seen::kNo, fmt::format("{} {} {}", what.substr(0, names), there ? "names" : "does not name", word)};
}

Found look(const Knob& knob, const KnobValue& value, const Sources& sources) {
  if (knob.check == CheckKind::kHttp) return look_at_page(knob.check_what, value, sources);
  if (!in_force(value)) return {Seen::kNobodyCanTell, "it is off"};
  switch (knob.check) {
    case CheckKind::kMetric:
      return look_at_counters(knob.check_what, sources);
    case CheckKind::kLog:
      return look_at_log(knob.check_what, sources);
    case CheckKind::kProcess:
      return look_at_process(knob.check_what, sources);
    default:
      return {};
  }
}

}  // namespace

Evidence look_for(const Knob& knob, const KnobValue& value, const Sources& sources) {
  const Found found = look(knob, value, sources);
  Evidence evidence{.knob = knob.name, .seen = found.seen, .what = found.what};
  if (!evidence.what.empty()) return evidence;
  evidence.what = knob.check_what.empty() ? fmt::format("nothing to look at ({})", to_string(knob.check))
                                          : fmt::format("not looked at ({}): {}", to_string(knob.check), knob.check_what);
  return evidence;
}

}  // namespace teapot::workbench
