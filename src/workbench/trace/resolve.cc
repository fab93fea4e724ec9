#include "workbench/trace/resolve.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"

namespace teapot::workbench::trace {
namespace {

constexpr int64_t kOwnVersion = 1;

bool has_process(const RawTrace& raw, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(raw.processes, [&](const auto& entry) { return std::ranges::find(names, entry.second.name) != names.end(); });
}

bool has_category(const RawTrace& raw, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(raw.details,
                             [&](const Detail& d) { return std::ranges::find(names, raw.names.text(d.category)) != names.end(); });
}

}  // namespace

std::string format_of(const RawTrace& raw) {
  if (!raw.has_events) return "unknown";
  if (!raw.own_format.empty()) return raw.own_format == "teapot-trace" ? "teapot" : "unknown";
  if (!raw.is_list && !has_process(raw, {"CANN", "Ascend Hardware"})) return "kineto";
  // Both are written by the same exporter; only the framework's profiler adds its own process.
  if (has_process(raw, {"Python"}) || has_category(raw, {"cpu_op", "enqueue", "dequeue"})) return "ascend_pt";
  if (has_process(raw, {"CANN", "Ascend Hardware", "HCCL", "Communication"})) return "msprof";
  return raw.slices.empty() ? "ascend_pt" : "unknown";
}

Read<Trace> resolve(RawTrace&& raw, const Rules& rules, const std::string& source) {
  Trace trace;
  trace.format = format_of(raw);
  trace.rank = raw.rank;
  trace.roof_gbps = raw.roof_gbps;
  trace.page_faults_by = raw.page_faults_by;
  if (trace.format == "unknown") {
    return refuse("unknown format", raw.own_format.empty()
                                        ? fmt::format("{}: a list of events, but none of the tracks that Ascend's profilers write", source)
                                        : fmt::format("{}: a trace in the format '{}', which is not known", source, raw.own_format));
  }
  trace.names = std::move(raw.names);
  if (trace.format == "teapot") {
    if (raw.own_version != kOwnVersion) {
      return refuse("unknown format", fmt::format("{}: version {} of teapot-trace, expected {}", source, raw.own_version, kOwnVersion));
    }
    resolve_own(raw, rules, trace);
  } else if (trace.format == "kineto") {
    resolve_kineto(raw, rules, trace);
  } else {
    resolve_ascend(raw, rules, trace);
  }
  order_markers(trace.markers);
  return trace;
}

void order_markers(std::vector<Marker>& markers) {
  // Of those that begin together the longest comes first: the others lie within it.
  std::ranges::sort(markers,
                    [](const Marker& a, const Marker& b) { return std::tie(a.start, b.end, a.id) < std::tie(b.start, a.end, b.id); });
  const bool ids = std::ranges::any_of(markers, [](const Marker& marker) { return !marker.id.empty(); });
  std::vector<Marker> kept;
  std::unordered_map<uint32_t, size_t> last;  // kept of each process
  for (Marker& marker : markers) {
    if (ids && marker.id.empty()) continue;
    // The same step on a second track, or an annotation within another one.
    const auto [before, is_first] = last.try_emplace(marker.process, kept.size());
    if (!is_first && kept[before->second].end >= marker.end) continue;
    if (!is_first && ids && kept[before->second].id == marker.id && marker.start < kept[before->second].end) continue;
    before->second = kept.size();
    kept.push_back(std::move(marker));
  }
  markers = std::move(kept);
}

void HostTracks::add(const RawSlice& slice, Name thread, int64_t base_ns) {
  const auto [kind, is_new] = kinds_.try_emplace(slice.name);
  if (is_new) {
    const std::string& name = trace_.names.text(slice.name);
    kind->second = {rules_.host(name), rules_.marker(name)};
  }
  const int64_t start = slice.start_ns + base_ns, end = start + slice.length_ns;
  if (kind->second.marker) {
    Marker marker;
    marker.id = *kind->second.marker;
    marker.start = start;
    marker.end = end;
    trace_.markers.push_back(std::move(marker));
    return;
  }
  const auto [track, new_track] = threads_.try_emplace(thread, static_cast<uint32_t>(trace_.threads.size()));
  if (new_track) trace_.threads.push_back(fmt::format("thread {}", trace_.names.text(thread)));
  if (end <= start || !countable(start, end)) return;  // no time passes in it
  HostSlice host;
  host.start = start;
  host.end = end;
  host.name = slice.name;
  host.thread = track->second;
  host.role = kind->second.role;
  trace_.host.push_back(host);
}

}  // namespace teapot::workbench::trace
