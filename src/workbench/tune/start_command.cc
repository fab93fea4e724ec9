#include "workbench/tune/start_command.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "workbench/tune/knob_values.h"
#include "workbench/tune/shell_words.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";

// Filled by `teapot tune` and by each start.
constexpr std::array<std::string_view, 5> kOwnPlaceholders = {"port", "port2", "seed", "state", "teapot"};

// fn(name, where it begins, behind its end) of each {name}; braces around anything but a name are none. Ends where fn says false.
template <class F>
void for_placeholders(std::string_view text, F&& fn) {
  for (size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const size_t close = text.find_first_not_of(kNameCharacters, open + 1);
    if (close == text.npos || close == open + 1 || text[close] != '}') continue;
    if (!fn(std::string(text.substr(open + 1, close - open - 1)), open, close + 1)) return;
    open = close;
  }
}

// What JSON gets as it is, not as a string.
bool is_literal(const Knob& knob, const std::string& text) {
  const auto at = std::ranges::find(knob.values, KnobValue(text));
  if (at != knob.values.end()) return knob.literal[at - knob.values.begin()];
  return knob.type != KnobType::kEnum && knob.type != KnobType::kString;
}

class Builder {
 public:
  Builder(const Catalogue& catalogue, const KnobProfile& profile, const Placeholders& placeholders)
      : catalogue_(catalogue), profile_(profile), placeholders_(placeholders) {}

  Result<StartCommand> build() {
    for (const auto& [name, value] : catalogue_.launch.env) {
      TEAPOT_TRY(std::string text, fill_placeholders(value, placeholders_));
      command_.env.emplace_back(name, std::move(text));
    }
    for (const Knob& knob : catalogue_.knobs) {
      if (const Status added = add(knob); !added) return at(knob.name, added.error());
    }
    TEAPOT_TRY(const auto start, split_words(catalogue_.launch.start));
    command_.words = std::move(prefix_);
    for (const std::string& word : start) {
      TEAPOT_TRY(std::string filled, fill_placeholders(word, placeholders_));
      command_.words.push_back(std::move(filled));
    }
    for (const Option& option : options_) {
      if (option.json.is_null()) {
        command_.words.insert(command_.words.end(), option.words.begin(), option.words.end());
      } else {
        add_option(command_.words, option.words.front(), {dump_json(option.json)});
      }
    }
    return std::move(command_);
  }

 private:
  struct Option {
    std::vector<std::string> words;
    Json json;  // of one option whose value is an object: words has its name alone
  };

  Status add(const Knob& knob) {
    const KnobValue& value = value_in(catalogue_, profile_, knob.name);
    const bool set = profile_.contains(knob.name) && value != knob.default_value();
    if (knob.set.kind == SetKind::kEnvironment) return add_variable(knob, value, set);
    if (!set || !value) return {};
    TEAPOT_TRY(const std::string text, fill_placeholders(*value, placeholders_));
    const bool on = text == "true";
    switch (knob.set.kind) {
      case SetKind::kSwitch:
        if (on) options_.push_back({{knob.set.name}, {}});
        return {};
      case SetKind::kPair:
        options_.push_back({{on ? knob.set.name : knob.set.negate}, {}});
        return {};
      case SetKind::kPrefix: {
        TEAPOT_TRY(const auto words, split_words(*value));
        for (const std::string& word : words) {
          TEAPOT_TRY(prefix_.emplace_back(), fill_placeholders(word, placeholders_));
        }
        return {};
      }
      case SetKind::kHost:
        if (on) command_.host_notes.push_back(knob.set.name);
        return {};
      case SetKind::kJson:
        return add_json(knob, *value, text);
      default:
        return add_flag(knob, text);
    }
  }

  Status add_variable(const Knob& knob, const KnobValue& value, bool set) {
    const auto same = [&](const auto& variable) { return variable.first == knob.set.name; };
    const auto before = std::ranges::find_if(command_.env, same);
    if (!set || !value) {
      if (before == command_.env.end()) command_.unset.push_back(knob.set.name);
      return {};
    }
    TEAPOT_TRY(std::string text, fill_placeholders(*value, placeholders_));
    std::erase(command_.unset, knob.set.name);
    if (before != command_.env.end()) {
      before->second = std::move(text);
    } else {
      command_.env.emplace_back(knob.set.name, std::move(text));
    }
    return {};
  }

  Status add_flag(const Knob& knob, const std::string& text) {
    std::vector<std::string> values = {text};
    if (knob.type == KnobType::kList) {
      TEAPOT_TRY(const Json list, parse_json(text, "list"));
      if (!list.is_array()) return fail(ErrorKind::kInvalid, "found {}, expected a JSON list", text);
      values = words_of(list);
    }
    Option option;
    add_option(option.words, knob.set.name, values);
    options_.push_back(std::move(option));
    return {};
  }

  void add_option(std::vector<std::string>& words, const std::string& name, const std::vector<std::string>& values) const {
    if (catalogue_.flag_equals) {
      words.push_back(fmt::format("{}={}", name, fmt::join(values, ",")));
    } else {
      words.push_back(name);
      words.insert(words.end(), values.begin(), values.end());
    }
  }

  Status add_json(const Knob& knob, const std::string& value, const std::string& text) {
    Json leaf = text;
    if (is_literal(knob, value)) {
      TEAPOT_TRY(leaf, parse_json(text, "value"));
    }
    const auto same = [&](const Option& option) { return !option.json.is_null() && option.words.front() == knob.set.name; };
    auto option = std::ranges::find_if(options_, same);
    if (option == options_.end()) option = options_.insert(option, {{knob.set.name}, Json::object()});
    Json* object = &option->json;
    std::string_view rest = knob.set.json_key;
    for (size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      object = &(*object)[std::string(rest.substr(0, dot))];
      rest.remove_prefix(dot + 1);
    }
    (*object)[std::string(rest)] = std::move(leaf);
    return {};
  }

  const Catalogue& catalogue_;
  const KnobProfile& profile_;
  const Placeholders& placeholders_;
  StartCommand command_;
  std::vector<std::string> prefix_;
  std::vector<Option> options_;
};

Status check_value(const Knob& knob, const KnobValue& value) {
  if (!value || std::ranges::find(knob.values, value) != knob.values.end()) return {};
  if (const std::string expected = expected_of(knob.type, *value); !expected.empty())
    return fail(ErrorKind::kInvalid, "{}: found '{}', expected {}", knob.name, *value, expected);
  return {};
}

// All that can have a placeholder.
template <class F>
void for_texts(const Catalogue& catalogue, F&& fn) {
  fn(catalogue.launch.start);
  for (const auto& [name, value] : catalogue.launch.env) fn(value);
  for (const Knob& knob : catalogue.knobs) {
    for (const KnobValue& value : knob.values) {
      if (value) fn(*value);
    }
  }
}

}  // namespace

Result<std::string> fill_placeholders(std::string_view text, const Placeholders& placeholders) {
  std::string out, missing;
  size_t done = 0;
  for_placeholders(text, [&](const std::string& name, size_t begin, size_t end) {
    const auto at = placeholders.find(name);
    if (at == placeholders.end()) {
      missing = name;
      return false;
    }
    out.append(text.substr(done, begin - done)).append(at->second);
    done = end;
    return true;
  });
  if (!missing.empty()) return fail(ErrorKind::kInvalid, "{}: nothing is given for {{{}}}", text, missing);
  return out.append(text.substr(done));
}

Status check_placeholders(const Catalogue& catalogue, const std::vector<std::string>& filled) {
  std::vector<std::string> known;
  for_texts(catalogue, [&](std::string_view text) {
    for_placeholders(text, [&](const std::string& name, size_t, size_t) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
      return true;
    });
  });
  if (std::ranges::find(known, "port") == known.end()) {
    return fail(ErrorKind::kInvalid,
                "the start command of {} is '{}'; expected {{port}} in it, where the server is told its port: --port {{port}}",
                catalogue.server, catalogue.launch.start);
  }
  for (const std::string& name : filled) {
    if (name == "port" || name == "port2") return fail(ErrorKind::kInvalid, "--fill: found {}=…; ports are chosen for each start", name);
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorKind::kInvalid, "--fill: nothing of the start command has {{{}}}; expected one of {}", name, fmt::join(known, ", "));
    }
  }
  return {};
}

std::vector<std::string> missing_placeholders(const Launch& launch, const Placeholders& given) {
  std::vector<std::string> missing;
  const auto look = [&](const std::string& name, size_t, size_t) {
    const std::string asked = name == "name" ? "model" : name;
    if (!given.contains(name) && std::ranges::find(kOwnPlaceholders, name) == kOwnPlaceholders.end() &&
        std::ranges::find(missing, asked) == missing.end())
      missing.push_back(asked);
    return true;
  };
  for_placeholders(launch.start, look);
  for (const auto& [name, value] : launch.env) for_placeholders(value, look);
  return missing;
}

Result<StartCommand> build_command(const Catalogue& catalogue, const KnobProfile& profile, const Placeholders& placeholders) {
  for (const auto& [name, value] : profile) {
    const Knob* knob = catalogue.find(name);
    if (knob == nullptr) return fail(ErrorKind::kInvalid, "{} has no knob '{}'", catalogue.server, name);
    if (value && !references_in(*value).empty()) return fail(ErrorKind::kInvalid, "{}: {} is not worked out", name, *value);
    TEAPOT_CHECK(check_value(*knob, value));
    for (const auto& [other, other_value] : profile) {
      if (other == name) break;
      if (same_place(knob->set, catalogue.find(other)->set))
        return fail(ErrorKind::kInvalid, "{} and {} cannot both be set: both are {}", other, name, knob->set.name);
    }
  }
  return Builder(catalogue, profile, placeholders).build();
}

std::string to_shell(const StartCommand& command) {
  std::vector<std::string> words;
  words.reserve(command.env.size() + command.words.size());
  for (const auto& [name, value] : command.env) words.push_back(name + "=" + quote_word(value));
  for (const std::string& word : command.words) words.push_back(quote_word(word));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace teapot::workbench
