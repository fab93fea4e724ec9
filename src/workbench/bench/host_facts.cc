#include "workbench/bench/host_facts.h"

#include <cstdlib>
#include <ctime>

#include <sys/utsname.h>

#include "base/control_groups.h"
#include "base/cpu_quota.h"
#include "base/memory.h"
#include "base/topology.h"

namespace teapot::workbench {
namespace {

std::string cpu_name() {
  const std::string text = read_system_file("/proc/cpuinfo").value_or("");
  const size_t name = text.find("model name");
  const size_t colon = name == text.npos ? name : text.find(": ", name);
  if (colon == text.npos) return "unknown";
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

}  // namespace

Result<Json> host_facts() {
  TEAPOT_TRY(const Topology topology, read_topology());
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  Json facts = {{"cpu", cpu_name()},
                {"topology", topology.describe()},
                {"cores", topology.cores.size()},
                {"hardware_threads", topology.cpus()},
                {"memory_bytes", memory.total_bytes},
                {"memory_available_bytes", memory.available_bytes}};
  if (const auto quota = read_cpu_quota()) facts["cpu_quota"] = quota->cpus;
  utsname system;
  if (uname(&system) == 0) facts["kernel"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  double load[3];
  if (getloadavg(load, 3) == 3) facts["load_average"] = Json::array({load[0], load[1], load[2]});
  return facts;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace teapot::workbench
