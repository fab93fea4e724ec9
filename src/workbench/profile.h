// Where the time of decode steps goes: phases of the workers, added up by op, beside the bytes that the ops must move.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "model/model.h"
#include "plan/backend.h"
#include "workbench/decode_loop.h"

namespace teapot::workbench {

struct ProfileOptions {
  DecodeLoad load;
  uint32_t steps = 16;
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
  std::shared_ptr<const engine::Recording> recording;  // of the steps
  std::vector<OpBytes> op_bytes;                       // [ops of the plan]
};

// model: loaded into the backend. The thread that calls runs the steps. kMemory where states or the read test do not fit.
Result<Profile> measure_profile(const model::Model& model, plan::Backend& backend, const ProfileOptions& options);

// Adds up the runs of one plan; bytes of op i of the plan: op_bytes[i].
std::vector<ProfileRow> profile_rows(const engine::Recording& recording, const std::vector<OpBytes>& op_bytes);

std::string to_text(const Profile& profile);
Json to_json(const Profile& profile);

}  // namespace teapot::workbench
