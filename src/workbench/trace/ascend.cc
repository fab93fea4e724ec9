// Ascend PyTorch profiler and msprof: processes "Python" and "CANN" are the host, "Ascend Hardware" the device, "Communication" (older:
// "HCCL") its collectives. Kernels know their launch by the flow "HostToDevice"; those of a graph by the MODEL_EXECUTE task before them.
#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "workbench/trace/data_types.h"
#include "workbench/trace/resolve.h"

namespace teapot::workbench::trace {
namespace {

constexpr std::string_view kExecute = "MODEL_EXECUTE";
constexpr std::string_view kCollectiveCore = "COMMUNICATION";
constexpr std::string_view kCollectiveDma = "SDMA_SQE";  // a task without a name of its own: what a collective copies

enum class Kind { kIgnored, kHost, kDevice, kCollective };

// "NPU 3" -> 3, "NPU" -> 0
uint32_t device_number(const std::string& label) {
  uint32_t number = 0;
  const size_t at = label.find_last_not_of("0123456789") + 1;
  std::from_chars(label.data() + at, label.data() + label.size(), number);
  return number;
}

class Resolver {
 public:
  Resolver(RawTrace& raw, const Rules& rules, Trace& trace) : raw_(raw), rules_(rules), trace_(trace), hosts_(rules, trace) {}

  void run() {
    for (const Track& track : raw_.tracks) add_track(track);
    raw_.slices.each([this](const RawSlice& slice) { add(slice); });
    follow_flows();
    follow_replays();
  }

 private:
  struct TrackInfo {
    Kind kind = Kind::kIgnored;
    uint32_t device = 0;
  };
  struct NameInfo {
    DeviceClass kind;
    bool executes = false;  // MODEL_EXECUTE
    bool dma = false;
  };
  struct Execution {
    int64_t start;
    int64_t connection;
  };

  void add_track(const Track& track) {
    TrackInfo info;
    const auto process = raw_.processes.find(track.process);
    const std::string name = process == raw_.processes.end() ? "" : process->second.name;
    const std::string& thread = trace_.names.text(track.thread_name);
    if (name == "Python" || name == "CANN") {
      info.kind = Kind::kHost;
    } else if (name == "Ascend Hardware") {
      info.kind = Kind::kDevice;
    } else if ((name == "Communication" || name == "HCCL") && thread.find("Communication") != thread.npos) {
      info.kind = Kind::kCollective;  // planes are the same time again
    }
    if (process != raw_.processes.end()) info.device = device_number(process->second.labels);
    tracks_.push_back(info);
    trace_.streams.push_back(thread.empty() ? fmt::format("stream {}", trace_.names.text(track.thread)) : thread);
  }

  void add(const RawSlice& raw) {
    TrackInfo track = tracks_[raw.track];
    const Detail& detail = raw_.details[raw.detail];
    // The framework's events say what they are even where their process has no name.
    if (track.kind == Kind::kIgnored && !raw_.processes.contains(raw_.tracks[raw.track].process) && detail.category != 0) {
      const std::string& category = trace_.names.text(detail.category);
      if (category == "cpu_op" || category == "enqueue" || category == "dequeue") track.kind = Kind::kHost;
    }
    if (track.kind == Kind::kHost) {
      hosts_.add(raw, raw_.tracks[raw.track].thread, raw_.base_ns);
      if (raw.id != kNoId && is_graph_launch(raw.name)) graph_launches_.try_emplace(raw.id, raw.start_ns + raw_.base_ns);
    } else if (track.kind != Kind::kIgnored) {
      add_device(raw, detail, track);
    }
  }

  bool is_graph_launch(Name name) {
    const auto [at, is_new] = launch_names_.try_emplace(name, false);
    if (is_new) at->second = rules_.is_graph_launch(trace_.names.text(name));
    return at->second;
  }

  const NameInfo& name_info(Name name, Name core, bool collective) {
    const auto [at, is_new] = kinds_.try_emplace({name, core, collective});
    if (is_new) {
      const std::string& text = trace_.names.text(name);
      at->second.kind = rules_.device(Tracks::kAscend, text, collective ? kCollectiveCore : std::string_view(trace_.names.text(core)));
      at->second.executes = text == kExecute;
      at->second.dma = text.starts_with(kCollectiveDma);
    }
    return at->second;
  }

  void add_device(const RawSlice& raw, const Detail& detail, const TrackInfo& track) {
    const bool collective = track.kind == Kind::kCollective;
    const NameInfo& info = name_info(raw.name, detail.core, collective);
    const int64_t start = raw.start_ns + raw_.base_ns;
    if (info.executes) executions_[track.device].push_back({start, raw.id});
    if (!info.kind) return;
    DeviceSlice slice;
    slice.start = start;
    slice.end = start + raw.length_ns;
    slice.timeless = (raw.start_ns == 0 && raw.length_ns == 0) || !countable(slice.start, slice.end);
    slice.name = raw.name;
    slice.core = detail.core;
    slice.stream = raw.track;
    slice.device = track.device;
    slice.kind = *info.kind;
    slice.collective = collective;
    slice.part = !collective && (slice.kind == Class::kComm || info.dma);
    slice.bytes = collective ? elements_bytes(detail.count, trace_.names.text(detail.data_type)) : detail.bytes;
    slice.replay = detail.model == kNoModel ? 0 : 1;  // which one is found when all executions are known
    trace_.device.push_back(slice);
  }

  // An end of a flow stands at the start of the slice on its track.
  void follow_flows() {
    struct Begin {
      int64_t id;
      uint64_t order;  // in the file: of several the first one counts
      int64_t at;
      auto operator<=>(const Begin&) const = default;
    };
    struct End {
      uint32_t track;
      int64_t at, launch;
      auto operator<=>(const End&) const = default;
    };
    SpilledRows<Begin> begins;
    raw_.flows.each([&](const FlowEnd& flow) {
      if (flow.begins) begins.push_back({flow.id, begins.size(), flow.at_ns + raw_.base_ns});
    });
    begins.sort(std::less<>());
    SpilledRows<End> ends;
    raw_.flows.each([&](const FlowEnd& flow) {
      if (flow.begins) return;
      const Begin* const begin = std::lower_bound(begins.begin(), begins.end(), Begin{flow.id, 0, INT64_MIN});
      if (begin != begins.end() && begin->id == flow.id) ends.push_back({flow.track, flow.at_ns + raw_.base_ns, begin->at});
    });
    raw_.flows = {};
    ends.sort(std::less<>());
    trace_.device.each([&](DeviceSlice& slice) {
      const End* const end = std::lower_bound(ends.begin(), ends.end(), End{slice.stream, slice.start, INT64_MIN});
      if (end != ends.end() && end->track == slice.stream && end->at == slice.start) slice.launch = end->launch;
    });
  }

  // Not the latest launch before the kernel: the host may be a step ahead of the device.
  void follow_replays() {
    std::map<std::pair<uint32_t, int64_t>, uint32_t> numbers;
    for (auto& [device, executions] : executions_) std::ranges::sort(executions, {}, &Execution::start);
    trace_.device.each([&](DeviceSlice& slice) {
      if (slice.replay == 0) return;
      slice.replay = 0;
      const auto& executions = executions_[slice.device];
      const auto after = std::ranges::upper_bound(executions, slice.start, {}, &Execution::start);
      if (after == executions.begin()) return;
      const Execution& execution = *std::prev(after);
      slice.replay = numbers.try_emplace({slice.device, execution.start}, static_cast<uint32_t>(numbers.size() + 1)).first->second;
      const auto launch = graph_launches_.find(execution.connection);
      if (launch != graph_launches_.end()) slice.launch = launch->second;
    });
  }

  struct KindHash {
    size_t operator()(const std::tuple<Name, Name, bool>& key) const {
      return (uint64_t{std::get<0>(key)} << 33 | uint64_t{std::get<1>(key)} << 1 | uint64_t{std::get<2>(key)}) * 0x9E3779B97F4A7C15u >> 7;
    }
  };

  RawTrace& raw_;
  const Rules& rules_;
  Trace& trace_;
  HostTracks hosts_;
  std::vector<TrackInfo> tracks_;
  std::unordered_map<std::tuple<Name, Name, bool>, NameInfo, KindHash> kinds_;
  std::unordered_map<Name, bool> launch_names_;
  std::unordered_map<int64_t, int64_t> graph_launches_;    // connection -> start of the call
  std::map<uint32_t, std::vector<Execution>> executions_;  // by device
};

}  // namespace

void resolve_ascend(RawTrace& raw, const Rules& rules, Trace& trace) { Resolver(raw, rules, trace).run(); }

}  // namespace teapot::workbench::trace
