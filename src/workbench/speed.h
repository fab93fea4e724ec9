// How fast a loaded model decodes and reads prompts, beside the floors that no implementation can pass: bytes over the read bandwidth and
// products over the arithmetic peak, both measured in turn with the steps, by the same threads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "model/model.h"
#include "plan/backend.h"
#include "workbench/figures.h"
#include "workbench/roof.h"

namespace teapot::workbench {

struct SpeedOptions {
  std::vector<uint32_t> concurrency = {1, 2, 4, 8};  // sequences of a decode step
  uint32_t prompt = 256;                             // tokens of each sequence, different ones
  uint32_t gen = 16;                                 // steps of a round
  uint32_t repeat = 8;                               // rounds, each between two measurements of the roof
  uint32_t prefill_chunk = 512;                      // tokens of a prefill step
  uint64_t read_bytes = 0;                           // that measure the bandwidth; 0: what choose_working_set says
};

// The least time that some traffic takes.
struct Floor {
  double bytes_ms = 0, arithmetic_ms = 0;

  double ms() const { return bytes_ms > arithmetic_ms ? bytes_ms : arithmetic_ms; }
  bool by_bytes() const { return bytes_ms >= arithmetic_ms; }
};

// The roof of some seconds.
struct RoofSample {
  double read_gbs = 0;
  double int8_gmacs = 0;         // of the fastest instructions that the kernels in use have
  double int8_vector_gmacs = 0;  // of those without tile registers: the same, but for isa=amx
  double f32_gmacs = 0;

  Floor floor(const plan::OpTraffic& traffic) const;
  RoofSample without_tiles() const;
};

using PartTraffic = std::array<plan::OpTraffic, plan::kTrafficPartNames.size()>;

struct PrefillSpeed {
  uint32_t tokens = 0;   // of a prompt
  uint32_t prompts = 0;  // that were timed
  Spread tok_s;
  Spread peak_percent;         // least time of its products by their time
  Spread vector_peak_percent;  // the same, had the host no tile registers
};

struct DecodeSpeed {
  uint32_t c = 0;
  Spread ms;                      // of a step: of the rounds' means
  Spread floor_ms, roof_percent;  // of each round with the roof measured before and after it
  Floor floor;                    // medians
  double parts_floor_ms = 0;      // the larger floor of each part of the model, added up
  double arithmetic_share = 0;    // of parts_floor_ms: in parts where arithmetic is the larger floor
  PartTraffic parts;              // of a step, on average
  double barrier_wait_share = 0;  // of the steps' time, over all threads
  uint64_t steps = 0;
  uint64_t plan_hits = 0, plan_misses = 0;  // of the timed steps, like all below
  uint64_t allocations = 0;                 // by operator new
  uint64_t minor_faults = 0, major_faults = 0;
  uint64_t voluntary_switches = 0, involuntary_switches = 0;
  uint64_t token_hash = 0;   // of all generated ids
  uint64_t logits_hash = 0;  // of the logits of one more step
};

struct Speed {
  SpeedOptions options;
  std::string model;
  WorkingSet working_set;
  std::string read_kernel, int8_kernel, f32_kernel;
  RoofSample roof;  // medians of the whole run
  PrefillSpeed prefill;
  std::vector<DecodeSpeed> decode;  // [concurrency]
  std::vector<plan::SwitchReport> levers;
};

// model: loaded into the backend. The thread that calls runs the steps. kMemory where states or the read test do not fit.
// progress is told what is being measured.
Result<Speed> measure_speed(const model::Model& model, plan::Backend& backend, const SpeedOptions& options,
                            const std::function<void(const std::string& what)>& progress);

Json to_json(const Speed& speed);
std::string to_text(const Speed& speed);

// How `now` differs from an earlier run of the same work (both from to_json): {"hashes_equal", "prefill_ratio", "decode": [{"c",
// "ms_ratio", "tokens_equal", "logits_equal"}]}, ratios now by then. kInvalid if `then` is no such report or one of other work.
Result<Json> compare(const Json& then, const Json& now);
std::string comparison_text(const Json& comparison);

}  // namespace teapot::workbench
