// Our own trace: workers are the device, the scheduler's thread is the host, and nothing has a launch.
#include <algorithm>

#include <fmt/format.h>

#include "workbench/trace/resolve.h"

namespace teapot::workbench::trace {

void resolve_own(RawTrace& raw, const Rules& rules, Trace& trace) {
  for (const Track& track : raw.tracks) {
    const std::string& name = trace.names.text(track.thread_name);
    trace.streams.push_back(name.empty() ? fmt::format("thread {}", trace.names.text(track.thread)) : name);
  }
  trace.threads = trace.streams;  // a worker computes, and it waits
  raw.slices.each([&](const RawSlice& slice) {
    const Detail& detail = raw.details[slice.detail];
    const std::string& category = trace.names.text(detail.category);
    const int64_t start = slice.start_ns + raw.base_ns, end = start + slice.length_ns;
    if (!countable(start, end)) return;
    if (category == "step") {
      Marker marker;
      marker.id = detail.step == kNoId ? "" : std::to_string(detail.step);
      marker.start = start;
      marker.end = end;
      marker.kind = trace.names.text(slice.name);
      marker.page_faults = detail.count;
      trace.markers.push_back(std::move(marker));
    } else if (category == "op" || category == "comm") {
      DeviceSlice device;
      device.start = start;
      device.end = end;
      device.timeless = slice.start_ns == 0 && slice.length_ns == 0;
      device.name = slice.name;
      device.stream = slice.track;
      device.kind = category == "comm" ? Class::kComm : rules.own_op(trace.names.text(slice.name));
      device.bytes = detail.bytes > 0 ? detail.bytes : -1;
      trace.device.push_back(device);
    } else if (category == "idle" && end > start) {
      trace.pauses.push_back({start, end});
    } else if (const std::optional<Role> role = rules.own_category(category); role && end > start) {
      HostSlice host;
      host.start = start;
      host.end = end;
      host.name = slice.name;
      host.thread = slice.track;
      host.role = *role;
      trace.host.push_back(host);
    }
  });
  std::ranges::sort(trace.pauses, {}, &Pause::start);
}

}  // namespace teapot::workbench::trace
