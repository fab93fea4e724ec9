#include "workbench/trace/slices.h"

#include <algorithm>
#include <set>

namespace teapot::workbench::trace {

std::vector<uint32_t> devices(const Trace& trace) {
  std::set<uint32_t> found;
  for (const DeviceSlice& slice : trace.device) found.insert(slice.device);
  return {found.begin(), found.end()};
}

void keep_device(Trace& trace, uint32_t device) {
  std::erase_if(trace.device, [device](const DeviceSlice& slice) { return slice.device != device; });
  std::set<uint32_t> processes;
  for (const DeviceSlice& slice : trace.device) processes.insert(slice.process);
  std::erase_if(trace.host, [&](const HostSlice& slice) { return !processes.contains(slice.process); });
  std::erase_if(trace.markers, [&](const Marker& marker) { return !processes.contains(marker.process); });
}

}  // namespace teapot::workbench::trace
