#include "workbench/trace/steps.h"

#include <gtest/gtest.h>

#include "workbench/trace/repairs.h"

namespace teapot::workbench::trace {
namespace {

DeviceSlice slice(Trace& trace, const std::string& name, int64_t start, int64_t end) {
  DeviceSlice result;
  result.name = trace.names.of(name);
  result.start = start;
  result.end = end;
  result.stream = 0;
  return result;
}

// `steps` steps of an embedding, `layers` times the same three kernels, and an argmax; a pause after each.
Trace repeating(int steps, int layers) {
  Trace trace;
  trace.streams = {"stream"};
  int64_t now = 1000;
  const auto run = [&](const std::string& name) {
    trace.device.push_back(slice(trace, name, now, now + 10));
    now += 12;
  };
  for (int s = 0; s < steps; ++s) {
    run("embedding");
    for (int l = 0; l < layers; ++l) {
      run("norm");
      run("matmul");
      run("hcom_allReduce__910_" + std::to_string(s * layers + l) + "_1");
      trace.device.back().kind = Class::kComm;
    }
    run("argmax");
    now += 100;
  }
  return trace;
}

TEST(TraceSteps, ALayerIsNoStepAndTwoStepsAreNone) {
  const auto rules = Rules::create(nullptr, "");
  for (const int layers : {1, 4, 60}) {
    Trace trace = repeating(5, layers);
    const auto steps = find_steps(trace, *rules, "t");
    ASSERT_TRUE(steps) << steps.error().message;
    ASSERT_EQ(steps->steps.size(), 5u);
    EXPECT_TRUE(steps->by_repetition);
    for (const Step& step : steps->steps) EXPECT_EQ(step.device_slices, static_cast<uint64_t>(3 * layers + 2));
    EXPECT_FALSE(steps->steps.back().complete);
    EXPECT_EQ(steps->steps[0].end, steps->steps[1].start);
  }
}

TEST(TraceSteps, AKernelMoreOrLessDoesNotShiftTheStepsAfterIt) {
  const auto rules = Rules::create(nullptr, "");
  Trace trace = repeating(20, 20);
  const size_t per_step = 62;
  const int64_t gone = trace.device[2 * per_step + 30].start;
  trace.device.erase_if([gone](const DeviceSlice& slice) { return slice.start == gone; });
  const int64_t third = trace.device[3 * per_step - 1].start;
  const auto steps = find_steps(trace, *rules, "t");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->steps.size(), 20u);
  EXPECT_EQ(steps->steps[3].start, third);
  EXPECT_EQ(steps->steps[2].device_slices, per_step - 1);
}

TEST(TraceSteps, WithoutATokenKernelOrARepetitionThereAreNone) {
  const auto rules = Rules::create(nullptr, "");
  Trace once = repeating(1, 60);
  EXPECT_EQ(find_steps(once, *rules, "t").error().error, "no steps found");
  Trace layers;
  layers.streams = {"stream"};
  for (int i = 0; i < 100; ++i) layers.device.push_back(slice(layers, i % 2 == 0 ? "norm" : "matmul", i * 10, i * 10 + 5));
  EXPECT_EQ(find_steps(layers, *rules, "t").error().error, "no steps found");
  Trace empty;
  EXPECT_EQ(find_steps(empty, *rules, "t").error().error, "no device events");
}

TEST(TraceSteps, ASliceBelongsToTheMarkerDuringWhichItWasLaunched) {
  const auto rules = Rules::create(nullptr, "");
  Trace trace;
  trace.streams = {"stream"};
  for (const auto& [start, launch] : {std::pair{20, 10}, {60, 40}, {130, 90}, {150, 110}}) {
    trace.device.push_back(slice(trace, "k", start, start + 10));
    trace.device.back().launch = launch;
  }
  for (const auto& [id, start] : {std::pair{"7", 0}, {"8", 100}, {"9", 500}}) {
    Marker marker;
    marker.id = id;
    marker.start = start;
    marker.end = start + 95;
    trace.markers.push_back(marker);
  }
  const auto steps = find_steps(trace, *rules, "t");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->steps.size(), 2u);
  EXPECT_EQ(steps->empty_markers, 1u);
  EXPECT_EQ(steps->steps[0].device_slices, 3u);  // launched at 90, during the first marker, although it runs during the second
  EXPECT_EQ(steps->steps[1].start, 150);
  EXPECT_EQ(steps->steps[1].end, 195);  // its marker ends after its last slice
}

TEST(TraceRepairs, AreCounted) {
  Trace trace;
  trace.streams = {"a", "b"};
  trace.device = {slice(trace, "k", 100, 130), slice(trace, "k", 120, 140),   slice(trace, "k", 150, 150),
                  slice(trace, "k", 170, 160), slice(trace, "far", 200, 210), slice(trace, "other stream", 90, 300)};
  trace.device[1].launch = 125;  // the device's clock is 5 ns behind
  trace.device[4].launch = 200 + 10'000'001;
  trace.device[5].stream = 1;
  DeviceSlice timeless;
  timeless.timeless = true;
  trace.device.push_back(timeless);
  const Repairs repairs = repair(trace);
  EXPECT_EQ(repairs.no_time, 1u);
  EXPECT_EQ(repairs.zero_length, 1u);
  EXPECT_EQ(repairs.negative_length, 1u);
  EXPECT_EQ(repairs.far_from_launch, 1u);
  EXPECT_EQ(repairs.clipped, 1u);
  EXPECT_EQ(repairs.clock_skew_ns, 5);
  ASSERT_EQ(trace.device.size(), 3u);
  EXPECT_EQ(trace.device[1].start, 105);
  EXPECT_EQ(trace.device[1].end, 125);
}

TEST(TraceRepairs, WhatRunsForACollectiveBelongsToIt) {
  Trace trace;
  trace.streams = {"a", "b"};
  trace.device = {slice(trace, "hcom_allReduce_", 100, 200), slice(trace, "allreduceAivKernel", 100, 200),
                  slice(trace, "allreduceAivKernel", 150, 201)};
  trace.device[0].collective = true;
  trace.device[1].part = trace.device[2].part = true;
  trace.device[1].stream = trace.device[2].stream = kNoStream;
  repair(trace);
  ASSERT_EQ(trace.device.size(), 2u);
  EXPECT_EQ(trace.device[1].start, 150);
}

}  // namespace
}  // namespace teapot::workbench::trace
