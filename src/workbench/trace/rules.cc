#define PCRE2_CODE_UNIT_WIDTH 8
#include "workbench/trace/rules.h"

#include <pcre2.h>
#include <algorithm>

#include "workbench/assets.h"

namespace teapot::workbench::trace {
namespace {

constexpr std::array<std::string_view, kRoles> kRoleNames = {"memory", "copy", "graph", "comm", "host", "sync"};
constexpr std::string_view kWait = "wait";
// Names of the outside world against patterns that may be a user's: a search ends, with no match, long before it is noticed.
constexpr uint32_t kMatchLimit = 200'000;

template <size_t N>
std::optional<size_t> index_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<size_t>(at - names.begin());
}

struct MatchContext {
  MatchContext() : data(pcre2_match_data_create(4, nullptr)), context(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context, kMatchLimit);
  }
  MatchContext(const MatchContext&) = delete;
  MatchContext& operator=(const MatchContext&) = delete;
  ~MatchContext() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }

  pcre2_match_data* data;
  pcre2_match_context* context;
};

int search(const pcre2_code* code, std::string_view text, const MatchContext& match) {
  return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, match.data, match.context);
}

}  // namespace

void Rules::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Class class_of(Role role) {
  switch (role) {
    case Role::kMemory:
      return Class::kMemory;
    case Role::kCopy:
    case Role::kSync:
      return Class::kSyncCopy;
    case Role::kGraph:
      return Class::kGraph;
    case Role::kComm:
      return Class::kComm;
    case Role::kHost:
      break;
  }
  return Class::kHost;
}

const Json& Rules::built_in() {
  static const Json table = Json::parse(find_asset("trace_rules.json"));
  return table;
}

Result<Rules> Rules::create(const Json& extra, std::string_view source) {
  Rules rules;
  if (!extra.is_null()) TEAPOT_CHECK(rules.add(extra, source));
  TEAPOT_CHECK(rules.add(built_in(), "the built-in rules"));
  return rules;
}

Result<Rules::Pattern> Rules::compile(const std::string& text, std::string_view source) {
  int code = 0;
  PCRE2_SIZE at = 0;
  Pattern pattern(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_NEVER_BACKSLASH_C, &code, &at, nullptr));
  if (pattern == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(code, message.data(), message.size());
    return fail(ErrorKind::kInvalid, "{}: pattern '{}': {} at character {}", source, text, reinterpret_cast<const char*>(message.data()),
                at);
  }
  return pattern;
}

Status Rules::add_patterns(const Json& list, std::string_view source, std::string_view key, std::vector<Rule>& rules) const {
  if (!list.is_array()) return fail(ErrorKind::kInvalid, "{}: '{}' is no list", source, key);
  for (const Json& text : list) {
    if (!text.is_string()) return fail(ErrorKind::kInvalid, "{}: '{}' holds {}, expected patterns", source, key, dump_json(text));
    TEAPOT_TRY(Pattern pattern, compile(text.get_ref<const std::string&>(), source));
    rules.push_back({"", std::move(pattern)});
  }
  return {};
}

Status Rules::add_rules(const Json& list, std::string_view source, std::string_view key, std::vector<Rule>& rules) const {
  if (!list.is_array()) return fail(ErrorKind::kInvalid, "{}: '{}' is no list", source, key);
  const bool host = &rules == &host_;
  for (const Json& rule : list) {
    if (!rule.is_array() || rule.size() != 2 || !rule[0].is_string() || !rule[1].is_string()) {
      return fail(ErrorKind::kInvalid, "{}: '{}' holds {}, expected [class, pattern]", source, key, dump_json(rule));
    }
    const std::string& value = rule[0].get_ref<const std::string&>();
    const bool known = host ? index_in(kRoleNames, value).has_value() : value == kWait || index_in(kClassNames, value).has_value();
    if (!known) return fail(ErrorKind::kInvalid, "{}: '{}' has the unknown {} '{}'", source, key, host ? "role" : "class", value);
    TEAPOT_TRY(Pattern pattern, compile(rule[1].get_ref<const std::string&>(), source));
    rules.push_back({value, std::move(pattern)});
  }
  return {};
}

// {"op": {name: class}, "category": {name: role}}
Status Rules::add_own(const Json& table, std::string_view source) {
  if (!table.is_object()) return fail(ErrorKind::kInvalid, "{}: 'teapot' is no object", source);
  for (const auto& [key, entries] : table.items()) {
    const bool op = key == "op";
    if ((!op && key != "category") || !entries.is_object())
      return fail(ErrorKind::kInvalid, "{}: unknown key '{}' of 'teapot'", source, key);
    for (const auto& [name, entry] : entries.items()) {
      const std::string text = entry.is_string() ? entry.get<std::string>() : dump_json(entry);
      if (op ? !index_in(kClassNames, text) : !index_in(kRoleNames, text)) {
        return fail(ErrorKind::kInvalid, "{}: '{}' of 'teapot' is the unknown '{}'", source, name, text);
      }
      (op ? own_ops_ : own_categories_).emplace(name, text);  // the first one counts
    }
  }
  return {};
}

Status Rules::add(const Json& table, std::string_view source) {
  if (!table.is_object()) return fail(ErrorKind::kInvalid, "{}: no object of rules", source);
  for (const auto& [key, value] : table.items()) {
    if (key == "about") continue;
    if (key == "marker") {
      TEAPOT_CHECK(add_patterns(value, source, key, markers_));
    } else if (key == "graph_launch") {
      TEAPOT_CHECK(add_patterns(value.is_string() ? Json::array({value}) : value, source, key, graph_launch_));
    } else if (key == "token_kernel") {
      TEAPOT_CHECK(add_patterns(value, source, key, token_kernels_));
    } else if (key == "ascend_device") {
      TEAPOT_CHECK(add_rules(value, source, key, ascend_device_));
    } else if (key == "ascend_core") {
      TEAPOT_CHECK(add_rules(value, source, key, ascend_core_));
    } else if (key == "cuda_device") {
      TEAPOT_CHECK(add_rules(value, source, key, cuda_device_));
    } else if (key == "host") {
      TEAPOT_CHECK(add_rules(value, source, key, host_));
    } else if (key == "teapot") {
      TEAPOT_CHECK(add_own(value, source));
    } else if (key == "device_order" || key == "gap_order") {
      // Which class wins is the sweep's own order. A table may state it, but not another one.
      if (value != built_in().at(key))
        return fail(ErrorKind::kUnsupported, "{}: '{}' cannot be another than {}", source, key, dump_json(built_in().at(key)));
    } else {
      return fail(ErrorKind::kInvalid, "{}: unknown key '{}'", source, key);
    }
  }
  return {};
}

const Rules::Rule* Rules::first(const std::vector<Rule>& rules, std::string_view name) {
  const MatchContext match;
  for (const Rule& rule : rules) {
    if (search(rule.pattern.get(), name, match) >= 0) return &rule;
  }
  return nullptr;
}

DeviceClass Rules::device(Tracks tracks, std::string_view name, std::string_view core) const {
  const Rule* rule = first(tracks == Tracks::kAscend ? ascend_device_ : cuda_device_, name);
  if (rule == nullptr && tracks == Tracks::kAscend) rule = first(ascend_core_, core);
  if (rule == nullptr) return Class::kUseful;
  if (rule->value == kWait) return std::nullopt;
  return static_cast<Class>(*index_in(kClassNames, rule->value));
}

Role Rules::host(std::string_view name) const {
  const Rule* rule = first(host_, name);
  return rule == nullptr ? Role::kHost : static_cast<Role>(*index_in(kRoleNames, rule->value));
}

bool Rules::is_graph_launch(std::string_view name) const { return first(graph_launch_, name) != nullptr; }
bool Rules::is_token_kernel(std::string_view name) const { return first(token_kernels_, name) != nullptr; }

std::optional<std::string> Rules::marker(std::string_view name) const {
  const MatchContext match;
  for (const Rule& rule : markers_) {
    const int groups = search(rule.pattern.get(), name, match);
    if (groups < 0) continue;
    if (groups < 2) return "";
    const PCRE2_SIZE* at = pcre2_get_ovector_pointer(match.data);
    return at[2] == PCRE2_UNSET ? "" : std::string(name.substr(at[2], at[3] - at[2]));
  }
  return std::nullopt;
}

Class Rules::own_op(std::string_view op) const {
  const auto at = own_ops_.find(op.substr(op.rfind('/') + 1));  // "draft/moe": of a draft step
  return at == own_ops_.end() ? Class::kUseful : static_cast<Class>(*index_in(kClassNames, at->second));
}

std::optional<Role> Rules::own_category(std::string_view category) const {
  const auto at = own_categories_.find(category);
  if (at == own_categories_.end()) return std::nullopt;
  return static_cast<Role>(*index_in(kRoleNames, at->second));
}

}  // namespace teapot::workbench::trace
