#include "base/cpu_quota.h"

#include <sstream>

#include "base/control_groups.h"

namespace teapot {
namespace {

// Of a quota and a period as the system spells them; "max" and -1 mean no limit.
std::optional<double> ratio(const std::string& text) {
  std::istringstream words(text);
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace

std::optional<CpuQuota> read_cpu_quota(const std::string& root) {
  std::optional<CpuQuota> tightest;
  visit_control_groups(root, "cpu", [&](GroupVersion version, const std::string& directory) {
    const std::string file = directory + (version == GroupVersion::k2 ? "/cpu.max" : "/cpu.cfs_quota_us");
    std::string text = read_system_file(file).value_or("");
    if (version == GroupVersion::k1) text += " " + read_system_file(directory + "/cpu.cfs_period_us").value_or("");
    const std::optional<double> cpus = ratio(text);
    if (cpus && (!tightest || *cpus < tightest->cpus)) tightest = CpuQuota{*cpus, file};
  });
  return tightest;
}

}  // namespace teapot
