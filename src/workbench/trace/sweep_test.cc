// The sweep against a slow reading of the specification, over random traces; and that classes add up.
#include "workbench/trace/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace teapot::workbench::trace {
namespace {

using Times = std::array<int64_t, kClasses>;

Trace random_trace(uint32_t seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](int most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most + 1)); };
  Trace trace;
  trace.streams = {"a", "b", "c"};
  trace.threads = {"x", "y"};
  const Class kinds[] = {Class::kUseful, Class::kBandwidth, Class::kGraph, Class::kComm, Class::kSyncCopy};
  for (int i = 0; i < 40; ++i) {
    DeviceSlice slice;
    slice.start = up_to(400);
    slice.end = slice.start + 1 + up_to(8);
    slice.stream = static_cast<uint32_t>(up_to(2));
    slice.kind = kinds[up_to(4)];
    if (up_to(2) > 0) slice.launch = slice.start - up_to(20);
    if (up_to(3) == 0) slice.replay = static_cast<uint32_t>(1 + up_to(2));
    trace.device.push_back(slice);
  }
  std::ranges::stable_sort(trace.device, {}, &DeviceSlice::start);
  const int hosts = seed % 5 == 0 ? 0 : 30;
  for (int i = 0; i < hosts; ++i) {
    HostSlice slice;
    slice.start = up_to(400);
    slice.end = slice.start + 1 + up_to(60);
    slice.thread = static_cast<uint32_t>(up_to(1));
    slice.role = static_cast<Role>(up_to(5));
    trace.host.push_back(slice);
  }
  std::ranges::stable_sort(trace.host, {}, &HostSlice::start);
  return trace;
}

// Who owns the nanosecond from t on.
Class owner(const Trace& trace, const Step& step, int64_t t) {
  std::vector<const DeviceSlice*> busy;
  for (const DeviceSlice& slice : trace.device) {
    if (slice.start < step.end && slice.end > step.start) busy.push_back(&slice);
  }
  for (const Class kind : {Class::kBandwidth, Class::kUseful, Class::kGraph, Class::kComm, Class::kSyncCopy}) {
    if (std::ranges::any_of(busy, [&](const DeviceSlice* s) { return s->kind == kind && s->start <= t && t < s->end; })) return kind;
  }
  int64_t before = INT64_MIN, after = INT64_MAX;
  for (const DeviceSlice* slice : busy) {
    if (slice->end <= t) before = std::max(before, slice->end);
    if (slice->start > t) after = std::min(after, slice->start);
  }
  if (after != INT64_MAX) {
    const DeviceSlice* ender = nullptr;
    for (const DeviceSlice* slice : busy) {
      if (slice->start != after) continue;
      if (ender == nullptr || (slice->launch != kNoTime && (ender->launch == kNoTime || slice->launch < ender->launch))) ender = slice;
    }
    if (ender->replay != 0 &&
        std::ranges::any_of(busy, [&](const DeviceSlice* s) { return s->end == before && s->replay == ender->replay; })) {
      return Class::kGraph;
    }
    if (!trace.host.empty() && ender->launch != kNoTime) {
      if (before != INT64_MIN && ender->launch <= before) return Class::kGraph;
      if (t >= ender->launch) return ender->kind == Class::kSyncCopy || ender->kind == Class::kComm ? ender->kind : Class::kHost;
    }
  }
  if (trace.host.empty()) return Class::kUnattributed;
  std::set<Role> roles;
  for (uint32_t thread = 0; thread < 2; ++thread) {
    const HostSlice* innermost = nullptr;
    for (const HostSlice& slice : trace.host) {
      if (slice.thread != thread || slice.start > t || slice.end <= t) continue;
      if (innermost == nullptr || std::pair(slice.start, -slice.end) >= std::pair(innermost->start, -innermost->end)) innermost = &slice;
    }
    if (innermost != nullptr) roles.insert(innermost->role);
  }
  return roles.empty() ? Class::kHost : class_of(*roles.begin());
}

TEST(TraceSweep, EqualsASlowReadingOfTheRules) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Trace trace = random_trace(seed);
    std::vector<Step> steps(3);
    const int64_t begin = trace.device.front().start;
    const int64_t cuts[] = {begin, trace.device[13].start, trace.device[27].start, 420};
    for (size_t i = 0; i < 3; ++i) {
      steps[i].start = cuts[i];
      steps[i].end = cuts[i + 1];
    }
    Sweep sweep(trace);
    for (const Step& step : steps) {
      Times fast{}, slow{};
      int64_t at = step.start;
      sweep.step(step, [&](const Piece& piece) {
        EXPECT_EQ(piece.start, at);
        EXPECT_LT(piece.start, piece.end);
        at = piece.end;
        fast[static_cast<size_t>(piece.kind)] += piece.ns();
      });
      EXPECT_EQ(at, step.end);
      for (int64_t t = step.start; t < step.end; ++t) ++slow[static_cast<size_t>(owner(trace, step, t))];
      EXPECT_EQ(fast, slow) << "seed " << seed << " step from " << step.start;
      EXPECT_EQ(std::accumulate(fast.begin(), fast.end(), int64_t{0}), step.end - step.start);
    }
  }
}

}  // namespace
}  // namespace teapot::workbench::trace
