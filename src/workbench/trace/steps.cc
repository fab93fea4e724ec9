#include "workbench/trace/steps.h"

#include <algorithm>

#include <fmt/format.h>

namespace teapot::workbench::trace {
namespace {

// During which marker each slice was launched or, without a launch, started; between two markers it is the first one's.
void follow_markers(Trace& trace) {
  trace.device.each([&](DeviceSlice& slice) {
    const int64_t at = slice.launch != kNoTime ? slice.launch : slice.start;
    const auto after = std::ranges::upper_bound(trace.markers, at, {}, &Marker::start);
    slice.step = after == trace.markers.begin() ? kNoStep : static_cast<uint32_t>(after - trace.markers.begin() - 1);
  });
}

// Kernels of one model within one step are one replay.
void number_replays(Trace& trace) {
  std::unordered_map<uint64_t, uint32_t> numbers;
  trace.device.each([&](DeviceSlice& slice) {
    if (slice.replay == 0) return;
    slice.replay = numbers.try_emplace(uint64_t{slice.step} << 32 | slice.replay, static_cast<uint32_t>(numbers.size() + 1)).first->second;
  });
}

}  // namespace

std::string_view collective_kind(std::string_view name) {
  for (int i = 0; i < 3; ++i) {
    const size_t digits = name.find_last_not_of("0123456789");
    if (digits == name.npos || digits + 1 == name.size() || name[digits] != '_') return name;
    name = name.substr(0, digits);
  }
  return name;
}

Read<Steps> find_steps(Trace& trace, const Rules& rules, const std::string& source) {
  if (trace.device.empty()) return refuse("no device events", source + ": no event of a device");
  Steps result;
  result.by_repetition = trace.markers.empty();
  size_t count = trace.markers.size();
  if (result.by_repetition) {
    count = steps_by_repetition(trace, rules);
    if (count == 0)
      return refuse("no steps found",
                    fmt::format("{}: no marker of a step, and no sequence of {} slices that repeats", source, trace.device.size()));
  } else if (!trace.steps_told) {
    follow_markers(trace);
  }
  if (trace.replays_by_step) number_replays(trace);

  std::vector<Step> steps(count);
  std::vector<int64_t> last_end(count, kNoTime);
  trace.device.each([&](const DeviceSlice& slice) {
    if (slice.step == kNoStep) return;
    Step& step = steps[slice.step];
    if (step.device_slices++ == 0) step.start = slice.start;
    last_end[slice.step] = std::max(last_end[slice.step], slice.end);
  });
  for (size_t i = 0; i < count; ++i) {
    steps[i].id = result.by_repetition || trace.markers[i].id.empty() ? std::to_string(i) : trace.markers[i].id;
    if (result.by_repetition) continue;
    last_end[i] = std::max(last_end[i], trace.markers[i].end);
    steps[i].kind = trace.markers[i].kind;
    steps[i].page_faults = trace.markers[i].page_faults;
  }
  // By their first slices, which for markers of an odd trace need not be the order of the markers.
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < count; ++i) {
    if (steps[i].device_slices > 0) order.push_back(i);
  }
  result.empty_markers = count - order.size();
  if (order.empty())
    return refuse("no steps found", fmt::format("{}: {} markers of steps, but nothing was launched during them", source, count));
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(steps[i].start, i); });
  std::vector<uint32_t> place(count, kNoStep);
  for (size_t n = 0; n < order.size(); ++n) {
    place[order[n]] = static_cast<uint32_t>(n);
    Step& step = result.steps.emplace_back(std::move(steps[order[n]]));
    step.complete = n + 1 < order.size();
    step.end = step.complete ? steps[order[n + 1]].start : last_end[order[n]];
    const auto pause = std::ranges::lower_bound(trace.pauses, last_end[order[n]], {}, &Pause::start);
    if (pause != trace.pauses.end()) step.end = std::min(step.end, pause->start);
  }
  trace.device.each([&](DeviceSlice& slice) {
    if (slice.step != kNoStep) slice.step = place[slice.step];
  });
  return result;
}

}  // namespace teapot::workbench::trace
