#include "workbench/tune/step_values.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/topology.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

// "0x5": bit i is processor i.
std::string mask(const std::vector<unsigned>& cpus) {
  std::string digits(std::ranges::max(cpus) / 4 + 1, '0');
  for (const unsigned cpu : cpus) {
    char& digit = digits[digits.size() - 1 - cpu / 4];
    const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | (1 << (cpu % 4));
    digit = "0123456789abcdef"[value];
  }
  return "0x" + digits;
}

void add_library(HostValues& values, const std::string& name, std::initializer_list<const char*> files) {
  std::vector<std::string> folders;
  const char* paths = std::getenv("LD_LIBRARY_PATH");
  for (std::string_view rest = paths == nullptr ? "" : paths; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64"}) {
    for (const char* machine : {"", "/x86_64-linux-gnu", "/aarch64-linux-gnu"}) folders.push_back(std::string(root) + machine);
  }
  for (const std::string& folder : folders) {
    for (const char* file : files) {
      std::error_code error;
      const std::filesystem::path path = std::filesystem::path(folder) / file;
      if (std::filesystem::is_regular_file(path, error)) {
        values[name] = path.string();
        return;
      }
    }
  }
}

// Tokens of the steps that decode: {c * (k + 1)}, sorted.
Result<std::set<uint64_t>> step_tokens(const Catalogue& catalogue, const KnobProfile& profile, const HostValues& host,
                                       const std::vector<uint32_t>& parallel) {
  uint64_t drafted = 0;
  if (const Knob* knob = catalogue.drafted_tokens()) {
    KnobValue value = value_in(catalogue, profile, knob->name);
    if (value && value->starts_with('@')) {
      const auto at = host.find(value->substr(1));
      value = at == host.end() ? std::nullopt : KnobValue(at->second);
    }
    const auto number = value ? number_in(*value) : 0.0;
    constexpr double kMost = 1 << 20;
    if (!number || *number < 0 || *number > kMost)
      return fail(ErrorKind::kInvalid, "{}: found {}, expected how many tokens a step drafts", knob->name, *value);
    drafted = static_cast<uint64_t>(*number);
  }
  std::set<uint64_t> tokens;
  for (const uint32_t users : parallel) tokens.insert(users * (drafted + 1));
  if (tokens.empty()) return fail(ErrorKind::kInvalid, "no numbers of users: the tokens of a step are not known");
  return tokens;
}

}  // namespace

Result<HostValues> read_host_values() {
  TEAPOT_TRY(const Topology topology, read_topology());
  std::vector<unsigned> first_of_core, node0;
  unsigned node = topology.cores.front().numa_node;
  for (const Core& core : topology.cores) node = std::min(node, core.numa_node);
  for (const Core& core : topology.cores) {
    first_of_core.push_back(core.cpus.front());
    if (core.numa_node == node) node0.insert(node0.end(), core.cpus.begin(), core.cpus.end());
  }
  HostValues values;
  values["physical_cores"] = fmt::format("{}", topology.cores.size());
  values["half_cores"] = fmt::format("{}", std::max<size_t>(1, topology.cores.size() / 2));
  values["all_cpus"] = fmt::format("{}", topology.cpus());
  std::ranges::sort(node0);
  values["node0_cpus"] = cpu_ranges(node0);
  values["physical_core_mask"] = mask(first_of_core);
  values["physical_core_list"] = fmt::format("{}", fmt::join(first_of_core, ","));
  add_library(values, "jemalloc", {"libjemalloc.so.2", "libjemalloc.so"});
  add_library(values, "tcmalloc", {"libtcmalloc.so.4", "libtcmalloc_minimal.so.4", "libtcmalloc.so"});
  return values;
}

bool available(const KnobValue& value, const HostValues& host) {
  if (!value) return true;
  return std::ranges::all_of(references_in(*value), [&](const std::string& name) {
    return host.contains(name) || name == kExactStepTokens || name == kMaxStepTokens;
  });
}

Result<std::string> resolve_value(const Catalogue& catalogue, const KnobProfile& profile, const Knob& knob, const std::string& value,
                                  const HostValues& host, const std::vector<uint32_t>& parallel) {
  return replace_references(value, [&](std::string_view reference) -> Result<std::string> {
    if (reference == kExactStepTokens || reference == kMaxStepTokens) {
      TEAPOT_TRY(const auto tokens, step_tokens(catalogue, profile, host, parallel));
      if (reference == kMaxStepTokens) return fmt::format("{}", *tokens.rbegin());
      const std::string list = fmt::format("{}", fmt::join(tokens, ","));
      return knob.type == KnobType::kList ? "[" + list + "]" : list;
    }
    const auto at = host.find(reference);
    if (at == host.end()) return fail(ErrorKind::kNotFound, "{}: this machine has no @{}", knob.name, reference);
    return at->second;
  });
}

Result<KnobProfile> resolve_values(const Catalogue& catalogue, const KnobProfile& profile, const HostValues& host,
                                   const std::vector<uint32_t>& parallel) {
  KnobProfile resolved = profile;
  for (auto& [name, value] : resolved) {
    const Knob* knob = catalogue.find(name);
    if (knob == nullptr) return fail(ErrorKind::kNotFound, "{} has no knob '{}'", catalogue.server, name);
    if (!value) continue;
    TEAPOT_TRY(std::string text, resolve_value(catalogue, profile, *knob, *value, host, parallel));
    value = std::move(text);
  }
  return resolved;
}

}  // namespace teapot::workbench
