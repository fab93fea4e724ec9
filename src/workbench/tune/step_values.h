// Values that are worked out for the machine and the trial: "@physical_cores", "@exact_step_tokens".
#pragma once

#include <array>

#include "base/error.h"
#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

inline constexpr std::string_view kExactStepTokens = "exact_step_tokens", kMaxStepTokens = "max_step_tokens";
// All that may stand behind an "@".
inline constexpr std::array<std::string_view, 10> kReferences = {
    kExactStepTokens, kMaxStepTokens,       "physical_cores",     "half_cores", "all_cpus",
    "node0_cpus",     "physical_core_mask", "physical_core_list", "jemalloc",   "tcmalloc"};

// "physical_cores" -> "8": @physical_cores @half_cores @all_cpus @node0_cpus @physical_core_mask @physical_core_list @jemalloc @tcmalloc;
// those that this machine does not have (a library that is not installed) are missing.
using HostValues = std::map<std::string, std::string, std::less<>>;
Result<HostValues> read_host_values();

// False: it needs something that this machine does not have; such a value is skipped.
bool available(const KnobValue& value, const HostValues& host);

// All "@..." of the profile replaced. parallel: the numbers of users that are measured, for @exact_step_tokens ({c * (k + 1)}, sorted, no
// two alike, k: the drafted tokens of the profile) and @max_step_tokens (the largest). kNotFound: this machine has no such value.
Result<KnobProfile> resolve_values(const Catalogue& catalogue, const KnobProfile& profile, const HostValues& host,
                                   const std::vector<uint32_t>& parallel);
// One value of the knob beside the profile's others.
Result<std::string> resolve_value(const Catalogue& catalogue, const KnobProfile& profile, const Knob& knob, const std::string& value,
                                  const HostValues& host, const std::vector<uint32_t>& parallel);

}  // namespace teapot::workbench
