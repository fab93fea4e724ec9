#include <algorithm>
#include <map>
#include <span>

#include "base/ticks.h"
#include "workbench/profile.h"

namespace teapot::workbench {
namespace {

struct Sums {
  size_t order = 0;  // of first appearance
  uint64_t calls = 0;
  uint64_t ticks = 0, serial = 0;
  double wait = 0;
  uint64_t bytes = 0;

  void add(const Sums& phase) {
    ticks += phase.ticks;
    serial += phase.serial;
    wait += phase.wait;
  }

  ProfileRow row(std::string op, bool phase, size_t steps) const {
    const double us = 1 / (ticks_per_ns() * 1000 * static_cast<double>(steps));  // of a tick, a step's share
    return {std::move(op),
            phase,
            static_cast<double>(calls) / static_cast<double>(steps),
            static_cast<double>(ticks) * us,
            wait * us,
            static_cast<double>(serial) * us,
            bytes / steps};
  }
};

// "gdn_step 3" -> "gdn_step"
std::string kind_of(const std::string& op) { return op.substr(0, op.find(' ')); }

using Workers = std::vector<std::span<const plan::Span>>;  // spans of a run

Workers workers_of(const engine::Recording& recording, const engine::RecordedRun& run) {
  Workers workers;
  for (size_t worker = 0; worker < recording.workers(); ++worker) workers.push_back(recording.spans(run, worker));
  return workers;
}

// When the i-th phase ended: the i-th span of every worker is of the same phase, and the last to arrive lets all go.
uint64_t end_of(const Workers& workers, size_t i) {
  for (const auto& spans : workers) {
    if (spans[i].serial) return spans[i].released;
  }
  return workers[0][i].released;
}

// From the end of the phase before it, the first one from when a worker began it.
Sums phase_of(const Workers& workers, size_t i) {
  Sums sums;
  uint64_t began = ~uint64_t{0};
  for (const auto& spans : workers) {
    const plan::Span& span = spans[i];
    began = std::min(began, span.began);
    sums.wait += static_cast<double>(span.waited()) / static_cast<double>(workers.size());
    if (span.serial) sums.serial += span.released - span.arrived;
  }
  sums.ticks = end_of(workers, i) - (i == 0 ? began : end_of(workers, i - 1));
  return sums;
}

struct Group {
  Sums sums;
  std::map<std::string, Sums> phases;
};

std::vector<std::pair<std::string, const Sums*>> in_order(const std::map<std::string, Sums>& phases) {
  std::vector<std::pair<std::string, const Sums*>> result;
  for (const auto& [name, sums] : phases) result.emplace_back(name, &sums);
  std::ranges::sort(result, {}, [](const auto& entry) { return entry.second->order; });
  return result;
}

}  // namespace

std::vector<ProfileRow> profile_rows(const engine::Recording& recording, const std::vector<OpBytes>& op_bytes) {
  std::map<std::string, Group> groups;
  const size_t steps = recording.steps().size();
  for (const engine::RecordedRun& run : recording.runs()) {
    const std::vector<std::string>& ops = recording.ops.at(run.plan);
    const Workers workers = workers_of(recording, run);
    uint32_t last = ~0u;
    for (size_t i = 0; i < workers.at(0).size(); ++i) {
      const plan::Span& first = workers[0][i];
      const OpBytes& bytes = op_bytes.at(first.op);
      std::string name = kind_of(ops.at(first.op));
      if (!bytes.part.empty() && bytes.part != name) name += fmt::format(" ({})", bytes.part);
      const auto [group, is_new] = groups.try_emplace(name);
      Sums& sums = group->second.sums;
      if (is_new) sums.order = groups.size();
      if (first.op != last) {
        ++sums.calls;
        sums.bytes += bytes.bytes;
      }
      last = first.op;
      const auto [phase, new_phase] = group->second.phases.try_emplace(first.phase);
      if (new_phase) phase->second.order = group->second.phases.size();
      const Sums spans = phase_of(workers, i);
      sums.add(spans);
      phase->second.add(spans);
      ++phase->second.calls;
    }
  }
  std::vector<const std::pair<const std::string, Group>*> ordered;
  for (const auto& group : groups) ordered.push_back(&group);
  std::ranges::sort(ordered, {}, [](const auto* group) { return group->second.sums.order; });
  std::vector<ProfileRow> rows;
  for (const auto* entry : ordered) {
    const Group& group = entry->second;
    rows.push_back(group.sums.row(entry->first, false, steps));
    if (group.phases.size() == 1) continue;
    for (const auto& [name, sums] : in_order(group.phases)) rows.push_back(sums->row(name, true, steps));
  }
  return rows;
}

}  // namespace teapot::workbench
