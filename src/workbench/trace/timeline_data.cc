#include "workbench/trace/timeline_data.h"

#include <algorithm>
#include <map>

#include "workbench/trace/sweep.h"

namespace teapot::workbench::trace {
namespace {

class Lanes {
 public:
  explicit Lanes(int64_t origin) : origin_(origin) {}

  // key: by which lanes are ordered and told apart.
  void add(std::pair<int, uint32_t> key, const std::string& label, bool nested, int64_t start, int64_t end, std::string_view name,
           Class kind) {
    Lane& lane = lanes_[key];
    if (lane.label.empty()) {
      lane.label = label;
      lane.nested = nested;
    }
    lane.start.push_back(start - origin_ - lane.last);
    lane.last = start - origin_;
    lane.length.push_back(end - start);
    lane.kind.push_back(static_cast<int>(kind));
    const auto [number, is_new] = numbers_.try_emplace(std::string(name), numbers_.size());
    if (is_new) names_.push_back(number->first);
    lane.name.push_back(number->second);
  }

  void finish(Json& json) {
    json["names"] = std::move(names_);
    json["lanes"] = Json::array();
    for (auto& [key, lane] : lanes_) {
      json["lanes"].push_back({{"label", lane.label},
                               {"nested", lane.nested},
                               {"start", std::move(lane.start)},
                               {"length", std::move(lane.length)},
                               {"name", std::move(lane.name)},
                               {"kind", std::move(lane.kind)}});
    }
  }

 private:
  struct Lane {
    std::string label;
    bool nested = false;
    int64_t last = 0;
    Json start = Json::array(), length = Json::array(), name = Json::array(), kind = Json::array();
  };

  int64_t origin_;
  std::map<std::pair<int, uint32_t>, Lane> lanes_;
  std::map<std::string, size_t> numbers_;
  Json names_ = Json::array();
};

// How many of the steps may be drawn.
size_t affordable(const Analysis& analysis, size_t max_slices) {
  std::vector<int64_t> starts;
  for (const DeviceSlice& slice : analysis.trace.device) starts.push_back(slice.start);
  for (const HostSlice& slice : analysis.trace.host) starts.push_back(slice.start);
  const int64_t from = analysis.steps.front().step.start;
  std::erase_if(starts, [from](int64_t start) { return start < from; });
  if (starts.size() <= max_slices) return analysis.steps.size();
  const auto limit = starts.begin() + static_cast<std::ptrdiff_t>(max_slices);
  std::ranges::nth_element(starts, limit);
  const auto after = std::ranges::upper_bound(analysis.steps, *limit, {}, [](const StepTimes& step) { return step.step.end; });
  return std::max<size_t>(1, static_cast<size_t>(after - analysis.steps.begin()));
}

}  // namespace

Json timeline_data(const Analysis& analysis, size_t max_slices) {
  Trace trace = analysis.trace;
  const size_t drawn = affordable(analysis, max_slices);
  const int64_t origin = analysis.steps.front().step.start, until = analysis.steps[drawn - 1].step.end;
  Json json = {{"rank", analysis.rank}, {"steps", Json::array()}, {"drawn_steps", drawn}};
  Lanes lanes(origin);
  Sweep sweep(trace);
  for (size_t i = 0; i < drawn; ++i) {
    const StepTimes& step = analysis.steps[i];
    json["steps"].push_back({{"id", step.step.id},
                             {"start", step.step.start - origin},
                             {"end", step.step.end - origin},
                             {"complete", step.step.complete},
                             {"ns", step.ns}});
    Piece open;
    bool any = false;
    const auto put = [&] {
      if (any) lanes.add({0, 0}, "classes", false, open.start, open.end, name_of(open.kind), open.kind);
    };
    sweep.step(step.step, [&](const Piece& piece) {
      if (any && open.kind == piece.kind && open.end == piece.start) {
        open.end = piece.end;
        return;
      }
      put();
      open = piece;
      any = true;
    });
    put();
  }
  const auto within = [&](const auto& slice) { return slice.end > origin && slice.start < until; };
  for (const DeviceSlice& slice : trace.device) {
    if (!within(slice)) continue;
    const bool known = slice.stream != kNoStream;
    lanes.add({1, slice.stream}, known ? trace.streams[slice.stream] : "device", !known, slice.start, slice.end,
              trace.names.text(slice.name), slice.kind);
  }
  for (const HostSlice& slice : trace.host) {
    if (within(slice)) {
      lanes.add({2, slice.thread}, trace.threads[slice.thread], true, slice.start, slice.end, trace.names.text(slice.name),
                class_of(slice.role));
    }
  }
  lanes.finish(json);
  return json;
}

}  // namespace teapot::workbench::trace
