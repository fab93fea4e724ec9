#include "workbench/profile.h"

#include "base/ticks.h"
#include "workbench/roof.h"

namespace teapot::workbench {
namespace {

constexpr uint64_t kSpareBytes = uint64_t{512} << 20;  // beside states and working set: plans, page tables, the system

// What each op of the plan has to move. A router is run together with its experts, whose spans are both's: its bytes go there.
std::vector<OpBytes> bytes_of(const std::vector<plan::OpTraffic>& traffic, const std::vector<std::string>& ops) {
  std::vector<OpBytes> result(ops.size());
  for (const plan::OpTraffic& entry : traffic) {
    size_t op = entry.op;
    while (op < ops.size() && ops[entry.op].starts_with("route ") && !ops[op].starts_with("moe ")) ++op;
    OpBytes& bytes = result.at(op);
    bytes.bytes += entry.bytes();
    if (op == entry.op && bytes.part.empty()) bytes.part = plan::name(entry.part);
  }
  return result;
}

}  // namespace

Result<Profile> measure_profile(const model::Model& model, plan::Backend& backend, const ProfileOptions& options) {
  Profile profile{options, backend.workers(), 0, 0, 0, {}, {}, {}};
  TEAPOT_TRY(const auto loop, DecodeLoop::create(model, backend, options.load, options.steps));
  TEAPOT_TRY(const WorkingSet set, choose_working_set(kSpareBytes));
  TEAPOT_TRY(ReadMeter reader, ReadMeter::create(Crew::of(backend), set));
  TEAPOT_TRY(const ReadKernel kernel, reader.fastest(profile.workers));
  TEAPOT_TRY(const double before, reader.pass(kernel, profile.workers));
  engine::StepRecorder recorder(backend);
  recorder.begin(std::make_unique<engine::Recording>(profile.workers, options.steps));
  double replaying = 0;
  for (uint32_t i = 0; i < options.steps; ++i) {
    TEAPOT_CHECK(loop->step(recorder));
    if (recorder.done() == engine::Recording::End::kMemory) {
      return fail(ErrorKind::kMemory, "{} steps are too many to be remembered; {} were", options.steps, i);
    }
    replaying += backend.shares().replaying / options.steps;
  }
  profile.recording = recorder.finish(engine::Recording::End::kSteps);
  std::vector<plan::OpTraffic> traffic;
  backend.traffic(traffic);
  TEAPOT_TRY(const double after, reader.pass(kernel, profile.workers));
  profile.read_gbs = (before + after) / 2;
  const engine::Recording& recording = *profile.recording;
  if (recording.dropped > 0) return fail(ErrorKind::kInternal, "{} of the steps' phases were not remembered", recording.dropped);
  for (const engine::RecordedRun& run : recording.runs()) {
    profile.step_us += static_cast<double>(run.ended - run.began) / ticks_per_ns() / 1000 / options.steps;
  }
  profile.replay_us = replaying * profile.step_us;
  profile.op_bytes = bytes_of(traffic, recording.ops.at(recording.runs().back().plan));
  profile.rows = profile_rows(recording, profile.op_bytes);
  return profile;
}

}  // namespace teapot::workbench
