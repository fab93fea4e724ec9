// PyTorch's profiler on CUDA and ROCm: the category says what an event is, the correlation id which call launched it.
#include <algorithm>

#include <fmt/format.h>

#include "workbench/trace/call_table.h"
#include "workbench/trace/data_types.h"
#include "workbench/trace/resolve.h"

namespace teapot::workbench::trace {
namespace {

enum class Category { kIgnored, kKernel, kCopy, kCall, kHost };

Category category_of(std::string_view text) {
  if (text == "kernel") return Category::kKernel;
  if (text == "gpu_memcpy" || text == "gpu_memset") return Category::kCopy;
  if (text == "cuda_runtime" || text == "cuda_driver" || text == "hip_runtime" || text == "hip_driver") return Category::kCall;
  if (text == "cpu_op" || text == "user_annotation" || text == "python_function") return Category::kHost;
  return Category::kIgnored;  // spans of the profiler itself, derived rows (cuda_sync, gpu_user_annotation), flows
}

}  // namespace

void resolve_kineto(RawTrace& raw, const Rules& rules, Trace& trace) {
  HostTracks hosts(rules, trace);
  std::vector<Category> categories;
  for (const Detail& detail : raw.details) categories.push_back(category_of(trace.names.text(detail.category)));
  for (const Track& track : raw.tracks) {
    trace.streams.push_back(fmt::format("GPU {} stream {}", trace.names.text(track.process), trace.names.text(track.thread)));
  }
  std::unordered_map<Name, DeviceClass> kinds;
  std::unordered_map<Name, bool> launch_names;
  CallTable calls;
  std::unordered_map<Name, uint32_t> device_numbers;
  raw.slices.each([&](const RawSlice& slice) {
    const Category category = categories[slice.detail];
    const Track& track = raw.tracks[slice.track];
    if (category == Category::kIgnored) return;
    if (category == Category::kCall || category == Category::kHost) {
      hosts.add(slice, track.thread, raw.base_ns);
      if (category != Category::kCall || slice.id == kNoId) return;
      const auto [replays, is_new] = launch_names.try_emplace(slice.name, false);
      if (is_new) replays->second = rules.is_graph_launch(trace.names.text(slice.name));
      calls.add({0, slice.id, slice.start_ns + raw.base_ns, track.process, replays->second});
      return;
    }
    DeviceSlice device;
    if (category == Category::kCopy) {
      device.kind = Class::kSyncCopy;
    } else {
      const auto [kind, is_new] = kinds.try_emplace(slice.name);
      if (is_new) kind->second = rules.device(Tracks::kCuda, trace.names.text(slice.name), "");
      if (!kind->second) return;
      device.kind = *kind->second;
    }
    const Detail& detail = raw.details[slice.detail];
    device.start = slice.start_ns + raw.base_ns;
    device.end = device.start + slice.length_ns;
    device.timeless = (slice.start_ns == 0 && slice.length_ns == 0) || !countable(device.start, device.end);
    device.launch = slice.id;  // the correlation, until all calls are known
    device.replay = detail.replayed ? 1 : 0;
    device.bytes = device.kind == Class::kComm ? elements_bytes(detail.count, trace.names.text(detail.data_type)) : detail.bytes;
    device.name = slice.name;
    device.stream = slice.track;
    const std::string& pid = trace.names.text(track.process);
    const auto [number, is_new] = device_numbers.try_emplace(track.process, 0);
    if (is_new) number->second = static_cast<uint32_t>(std::strtoul(pid.c_str(), nullptr, 10));
    device.device = number->second;
    trace.device.push_back(device);
  });
  calls.finish();
  std::unordered_map<int64_t, uint32_t> replays;
  trace.device.each([&](DeviceSlice& slice) {
    const int64_t correlation = slice.launch;
    slice.launch = kNoTime;
    const Calls call = correlation == kNoId ? Calls{} : calls.find(0, correlation);
    if (call.known) slice.launch = call.start;
    const bool replayed = correlation != kNoId && (slice.replay != 0 || (call.known && call.replays));
    slice.replay = replayed ? replays.try_emplace(correlation, static_cast<uint32_t>(replays.size() + 1)).first->second : 0;
  });
}

}  // namespace teapot::workbench::trace
