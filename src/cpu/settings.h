// The switches of the CPU backend as this host can honour them.
#pragma once

#include <string>
#include <vector>

#include "cpu/arena.h"
#include "cpu/executor.h"
#include "cpu/options.h"
#include "cpu/placement.h"
#include "plan/backend.h"

namespace teapot::cpu {

struct Settings {
  Options options;  // as asked for
  const KernelTable* kernels = nullptr;
  bool int8_activations = false;
  bool prepack = true;
  OpLevers levers;
  Pages pages = Pages::kBest;  // of the weights; the rest is smaller and grows, which reserved pages cannot: kThp or k4k
  ThreadTeam::Waiting waiting;
  Executor::Settings executor{};
  size_t workers = 1;
  Topology topology{};
  Placement placement{};
  std::vector<std::string> notes;  // what a user should know about the host: for the log
};

// kInvalid for an unknown value, kUnsupported for one that this host cannot honour.
Result<Settings> settle(const Options& options);

// What became of the switches; what is not known before the weights are loaded is left as asked for.
struct SwitchFacts {
  const Settings& settings;
  const PackedWeights* weights;  // null: not loaded
  PageUsage weight_usage;
  uint64_t saturated;
};
std::vector<plan::SwitchReport> switch_reports(const SwitchFacts& facts);

}  // namespace teapot::cpu
