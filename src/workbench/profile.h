// Where the time of decode steps goes: phases of the workers, added up by op, beside the bytes that the ops must move.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "model/model.h"
#include "plan/backend.h"

namespace teapot::workbench {

struct ProfileOptions {
  uint32_t sequences = 1;  // of a decode step
  uint32_t prompt = 64;    // tokens of each sequence before it
  uint32_t steps = 16;
  uint32_t drafts = 0;  // of each sequence in a step, verified beside its last token; all hold. The model must have room for them
};

// Figures of a step, on average.
struct ProfileRow {
  std::string op;      // kind of op and the part of the model, or a phase of it
  bool phase = false;  // of the op above
  double calls = 0;
  double us = 0;         // from the first worker's begin to the last one's end, serial pieces included
  double wait_us = 0;    // of that at barriers, on average over the workers
  double serial_us = 0;  // of that in serial pieces at barriers
  uint64_t bytes = 0;    // what must be moved; 0 for phases
};

struct OpBytes {
  std::string part;  // of the model
  uint64_t bytes = 0;
};

struct Profile {
  ProfileOptions options;
  size_t workers = 0;
  double read_gbs = 0;   // what the workers can read, measured before and after the steps
  double step_us = 0;    // average
  double replay_us = 0;  // of that: accepted tokens moved into recurrent states, and the log of drafts
  std::vector<ProfileRow> rows;
  std::vector<plan::StepTrace> traces;  // [steps]
  std::vector<OpBytes> op_bytes;        // [ops of the plan]
};

// model: loaded into the backend. The thread that calls runs the steps. kMemory where states or the read test do not fit.
Result<Profile> measure_profile(const model::Model& model, plan::Backend& backend, const ProfileOptions& options);

// Adds up the traces of steps of one plan; bytes of op i of the plan: op_bytes[i].
std::vector<ProfileRow> profile_rows(const std::vector<plan::StepTrace>& traces, const std::vector<OpBytes>& op_bytes);

std::string to_text(const Profile& profile);
Json to_json(const Profile& profile);
// Our trace format, "teapot-trace", for `teapot profile import` and for ui.perfetto.dev: a track a worker with its ops (by phase; serial
// pieces are ops, too) and its waits, a track of steps and of what lies between them. An op's bytes are spread evenly over its slices.
Json chrome_trace(const Profile& profile);

}  // namespace teapot::workbench
