#include "workbench/trace/slices.h"

#include <algorithm>
#include <set>

namespace teapot::workbench::trace {

std::vector<uint32_t> devices(const Trace& trace) {
  std::set<uint32_t> found;
  trace.device.each([&](const DeviceSlice& slice) { found.insert(slice.device); });
  return {found.begin(), found.end()};
}

void keep_device(Trace& trace, uint32_t device) {
  trace.device.erase_if([device](const DeviceSlice& slice) { return slice.device != device; });
  std::set<uint32_t> processes;
  trace.device.each([&](const DeviceSlice& slice) { processes.insert(slice.process); });
  trace.host.erase_if([&](const HostSlice& slice) { return !processes.contains(slice.process); });
  std::erase_if(trace.markers, [&](const Marker& marker) { return !processes.contains(marker.process); });
}

}  // namespace teapot::workbench::trace
