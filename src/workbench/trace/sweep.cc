#include "workbench/trace/sweep.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

namespace teapot::workbench::trace {
namespace {

// Who owns a busy instant: what something more essential hides costs nothing.
constexpr std::array<Class, kClasses> kDeviceOrder = {Class::kBandwidth, Class::kUseful, Class::kGraph, Class::kComm,
                                                      Class::kSyncCopy,  Class::kMemory, Class::kHost,  Class::kUnattributed};

constexpr std::array<size_t, kClasses> ranks() {
  std::array<size_t, kClasses> result{};
  for (size_t i = 0; i < kClasses; ++i) result[static_cast<size_t>(kDeviceOrder[i])] = i;
  return result;
}
constexpr std::array<size_t, kClasses> kRank = ranks();

Class launch_class(Class kind) { return kind == Class::kSyncCopy ? Class::kSyncCopy : kind == Class::kComm ? Class::kComm : Class::kHost; }

}  // namespace

Sweep::Sweep(Trace& trace) : trace_(trace) {
  trace.host.sort([](const HostSlice& a, const HostSlice& b) {
    return std::tie(a.start, b.end, a.thread, a.name) < std::tie(b.start, a.end, b.thread, b.name);
  });
}

// What lies in the step: what was there before and has not ended, and what starts before it ends.
void Sweep::take(const Step& step) {
  const auto advance = [&](const auto& slices, std::vector<uint32_t>& taken, size_t& next) {
    std::erase_if(taken, [&](uint32_t i) { return slices[i].end <= step.start; });
    for (; next < slices.size() && slices[next].start < step.end; ++next) {
      if (slices[next].end > step.start) taken.push_back(static_cast<uint32_t>(next));
      if (next % std::remove_cvref_t<decltype(slices)>::kWindow == 0) slices.passed(next);
    }
  };
  advance(trace_.device, device_, next_device_);
  advance(trace_.host, host_, next_host_);
}

// Per thread, the innermost slice at each time. By start, of equal ones the longer first: each new slice lies upon all that are open.
void Sweep::flatten() {
  std::vector<uint32_t> order = host_;
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    const HostSlice &x = trace_.host[a], &y = trace_.host[b];
    if (x.thread != y.thread) return x.thread < y.thread;
    if (x.start != y.start) return x.start < y.start;
    if (x.end != y.end) return x.end > y.end;
    return a < b;
  });
  threads_.clear();
  std::vector<uint32_t> open;
  for (size_t i = 0; i < order.size();) {
    const uint32_t thread = trace_.host[order[i]].thread;
    std::vector<Segment>& segments = threads_.emplace_back();
    int64_t now = trace_.host[order[i]].start;
    const auto run_to = [&](int64_t until) {
      while (!open.empty() && now < until) {
        const int64_t end = trace_.host[open.back()].end;
        if (end > now) {
          segments.push_back({now, std::min(end, until), open.back()});
          now = segments.back().end;
        }
        if (end <= now) open.pop_back();
      }
      now = until;
    };
    for (; i < order.size() && trace_.host[order[i]].thread == thread; ++i) {
      run_to(trace_.host[order[i]].start);
      open.push_back(order[i]);
    }
    run_to(INT64_MAX);
    open.clear();
  }
  cursors_.assign(threads_.size(), 0);
}

void Sweep::step(const Step& step, const std::function<void(const Piece&)>& use) {
  take(step);
  flatten();
  ended_.clear();
  std::array<std::vector<uint32_t>, kClasses> running;  // by rank
  size_t running_count = 0, next = 0;
  // Ends of those that run, soonest last.
  std::vector<uint32_t> ends;
  const auto by_end = [&](uint32_t a, uint32_t b) { return trace_.device[a].end > trace_.device[b].end; };
  int64_t now = step.start;
  while (now < step.end) {
    ended_.clear();
    while (!ends.empty() && trace_.device[ends.back()].end <= now) {
      const uint32_t slice = ends.back();
      ends.pop_back();
      std::erase(running[kRank[static_cast<size_t>(trace_.device[slice].kind)]], slice);
      --running_count;
      ended_.push_back(slice);
    }
    for (; next < device_.size() && trace_.device[device_[next]].start <= now; ++next) {
      const uint32_t slice = device_[next];
      running[kRank[static_cast<size_t>(trace_.device[slice].kind)]].push_back(slice);
      ends.insert(std::ranges::upper_bound(ends, slice, by_end), slice);
      ++running_count;
    }
    int64_t until = step.end;
    if (!ends.empty()) until = std::min(until, trace_.device[ends.back()].end);
    if (next < device_.size()) until = std::min(until, trace_.device[device_[next]].start);
    if (running_count == 0) {
      gap(step, now, until, next, use);
    } else {
      const auto owner = std::ranges::find_if(running, [](const auto& slices) { return !slices.empty(); });
      use({now, until, kDeviceOrder[static_cast<size_t>(owner - running.begin())], Cause::kSlice, owner->front()});
    }
    now = until;
  }
}

// The gap [from, to); device_[next] is the slice after it, if one starts before the step ends.
void Sweep::gap(const Step& step, int64_t from, int64_t to, size_t next, const std::function<void(const Piece&)>& use) {
  int64_t launch = to;  // from when on the gap is the launch's
  if (next < device_.size() && to < step.end) {
    uint32_t ender = device_[next];
    for (size_t i = next; i < device_.size() && trace_.device[device_[i]].start == to; ++i) {
      const int64_t candidate = trace_.device[device_[i]].launch, chosen = trace_.device[ender].launch;
      if (candidate != kNoTime && (chosen == kNoTime || candidate < chosen)) ender = device_[i];
    }
    const DeviceSlice& slice = trace_.device[ender];
    if (slice.replay != 0 && std::ranges::any_of(ended_, [&](uint32_t i) { return trace_.device[i].replay == slice.replay; })) {
      use({from, to, Class::kGraph, Cause::kReplay, ender});
      return;
    }
    if (!trace_.host.empty() && slice.launch != kNoTime) {
      if (!ended_.empty() && slice.launch <= from) {
        use({from, to, Class::kGraph, Cause::kQueued, ender});
        return;
      }
      launch = std::clamp(slice.launch, from, to);
      host_gap(from, launch, use);
      if (launch < to) use({launch, to, launch_class(slice.kind), Cause::kLaunch, ender});
      return;
    }
  }
  host_gap(from, to, use);
}

void Sweep::host_gap(int64_t from, int64_t to, const std::function<void(const Piece&)>& use) {
  if (from < to && trace_.host.empty()) {
    use({from, to, Class::kUnattributed, Cause::kUnknown, 0});
    return;
  }
  while (from < to) {
    int64_t until = to;
    const Segment* chosen = nullptr;
    for (size_t t = 0; t < threads_.size(); ++t) {
      const std::vector<Segment>& segments = threads_[t];
      size_t& at = cursors_[t];
      while (at < segments.size() && segments[at].end <= from) ++at;
      if (at == segments.size()) continue;
      const Segment& segment = segments[at];
      until = std::min(until, segment.start > from ? segment.start : segment.end);
      if (segment.start > from) continue;
      if (chosen == nullptr || trace_.host[segment.slice].role < trace_.host[chosen->slice].role) chosen = &segment;
    }
    if (chosen == nullptr) {
      use({from, until, Class::kHost, Cause::kPython, 0});
    } else {
      use({from, until, class_of(trace_.host[chosen->slice].role), Cause::kHost, chosen->slice});
    }
    from = until;
  }
}

}  // namespace teapot::workbench::trace
