#include "workbench/trace/repairs.h"

#include <algorithm>
#include <tuple>

namespace teapot::workbench::trace {
namespace {

constexpr int64_t kMaxLag = 10'000'000;  // ns

void drop_timeless(SpilledRows<DeviceSlice>& slices, Repairs& repairs) {
  slices.erase_if([&](const DeviceSlice& slice) {
    if (slice.timeless) {
      ++repairs.no_time;
    } else if (slice.end < slice.start) {
      ++repairs.negative_length;
    } else if (slice.end == slice.start) {
      ++repairs.zero_length;
    } else {
      return false;
    }
    return true;
  });
}

// slices: by start.
void drop_parts(SpilledRows<DeviceSlice>& slices) {
  struct Span {
    int64_t start, latest_end;  // of the collectives up to this one
  };
  std::vector<Span> collectives;
  slices.each([&](const DeviceSlice& slice) {
    if (slice.collective)
      collectives.push_back({slice.start, std::max(slice.end, collectives.empty() ? slice.end : collectives.back().latest_end)});
  });
  slices.erase_if([&](const DeviceSlice& slice) {
    if (!slice.part) return false;
    const auto after = std::ranges::upper_bound(collectives, slice.start, {}, &Span::start);
    return after != collectives.begin() && std::prev(after)->latest_end >= slice.end;
  });
}

// slices: by start. What begins together with the next one of its stream is nothing but that one's shadow, and goes.
void clip(SpilledRows<DeviceSlice>& slices, size_t streams, Repairs& repairs) {
  std::vector<DeviceSlice*> last(streams, nullptr);
  slices.each([&](DeviceSlice& slice) {
    if (slice.stream == kNoStream) return;
    DeviceSlice*& before = last[slice.stream];
    if (before != nullptr && before->end > slice.start) {
      before->end = slice.start;
      ++repairs.clipped;
    }
    before = &slice;
  });
  slices.erase_if([](const DeviceSlice& slice) { return slice.end == slice.start; });
}

void set_clock(SpilledRows<DeviceSlice>& slices, Repairs& repairs) {
  slices.erase_if([&](const DeviceSlice& slice) {
    const bool far = slice.launch != kNoTime && slice.launch - slice.start > kMaxLag;
    repairs.far_from_launch += far;
    return far;
  });
  int64_t lag = 0;
  slices.each([&](const DeviceSlice& slice) {
    if (slice.launch != kNoTime) lag = std::max(lag, slice.launch - slice.start);
  });
  repairs.clock_skew_ns = lag;
  slices.each([&](DeviceSlice& slice) {
    slice.start += lag;
    slice.end += lag;
  });
}

}  // namespace

Repairs repair(Trace& trace) {
  Repairs repairs;
  drop_timeless(trace.device, repairs);
  trace.device.sort([](const DeviceSlice& a, const DeviceSlice& b) {
    return std::tie(a.start, a.end, a.stream, a.name) < std::tie(b.start, b.end, b.stream, b.name);
  });
  drop_parts(trace.device);
  clip(trace.device, trace.streams.size(), repairs);
  set_clock(trace.device, repairs);
  return repairs;
}

}  // namespace teapot::workbench::trace
