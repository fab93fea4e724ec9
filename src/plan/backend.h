// What the engine asks of a backend: take the weights, hold the states of sequences, prepare plans, run steps.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/plan.h"
#include "plan/switch_report.h"
#include "plan/trace.h"
#include "plan/traffic.h"

namespace teapot::plan {

enum class SlotId : uint16_t {};
enum class PlanId : uint16_t {};
enum class PageId : uint32_t {};

constexpr uint32_t kPagePositions = 256;  // of a KV page: the block of attention partials (design section 4)
constexpr uint32_t kHiddenRows = 32;      // final hidden states that a state keeps: so many tokens may pass before the MTP layer sees them

// What a row of the step gives back.
enum class RowReturn : uint8_t {
  kNothing,
  kArgmax,
  kTopK,
  kLogits,
  kDraft  // as kArgmax, and how likely it is among the ids that were compared
};

// Consecutive tokens of one sequence within a step.
struct SequenceRows {
  SlotId slot;
  uint32_t first_row;
  uint32_t rows;
  uint32_t position;  // of the first row: the slot's committed tokens before the step
  StepKind kind = StepKind::kPrefill;
};

// Added to the logit of an id before the ids of a row are compared; -inf takes the id out.
struct LogitBias {
  int32_t id;
  float bias;
};

// A row's biases: a range of StepPacket::biases, ascending ids without duplicates. Rows may share a range.
struct BiasRange {
  uint32_t first = 0, count = 0;
};

constexpr uint32_t kMaxTopK = 64;
constexpr uint32_t kHeadRowGroup = 16;  // rows of a matrix that lie side by side

// Consecutive rows of the head's matrix.
struct HeadRows {
  uint32_t first, count;
};

// One step's input. Flat and reused; the rows of a sequence are consecutive, sequences stand in the order of `sequences`.
struct StepPacket {
  std::vector<int32_t> tokens;          // [rows]
  std::vector<SequenceRows> sequences;  // cover all rows, each slot at most once
  std::vector<RowReturn> returns;       // [rows]
  uint32_t top_k = 0;                   // of the kTopK rows: 1 to kMaxTopK
  std::vector<LogitBias> biases = {};   // of kArgmax and kTopK rows
  std::vector<BiasRange> masks = {};    // [rows], or empty: no row has biases
  // The ids that kDraft rows choose among, ascending, whole groups of kHeadRowGroup (but for the last of the vocabulary); empty: all. With
  // it no row returns anything but kDraft.
  std::vector<HeadRows> head_rows = {};
};

struct Candidate {
  float logit;
  int32_t id;
};

struct TapResult {
  std::string name;
  size_t cols;
  std::vector<float> f32;    // [rows, cols], if the buffer is f32
  std::vector<int32_t> i32;  // [rows, cols], if it is i32
};

// One step's output, valid until the next run.
struct StepResult {
  std::vector<uint32_t> rows;      // rows with a return, ascending
  std::vector<int32_t> argmax;     // [rows]: lowest id among equals; -1 if a logit is NaN or all ids are out
  std::vector<float> max;          // [rows]: the logit of argmax, biases added; of -1: NaN if a logit is NaN, -inf if all ids are out
  std::vector<float> probability;  // [rows] of argmax, for kDraft
  std::vector<std::span<const Candidate>>
      top;  // [rows] each up to top_k for kTopK, else, or if a logit is NaN, empty: falling logits, rising ids among equals
  std::vector<std::span<float>> logits;  // [rows] each [vocab] for kLogits, else empty; no biases added; the sampler may change them
  std::vector<TapResult> taps;
};

// The state of one sequence, read back (tests, later checkpoints).
struct StateSnapshot {
  std::vector<float> recurrent;  // [value_heads, dk, dv] of one GDN layer
  std::vector<float> conv;       // [conv_kernel-1, channels], oldest first
};

// The states of sequences. A slot is one state: recurrent states and windows of its own, and a table of KV pages, which it may share with
// other slots as far as they hold the same tokens. Pages are taken as tokens come and go back with the last slot that holds them.
//
// With speculation (StateLayout::mtp_layers): kModelMtp steps keep the MTP layer where the model is, kModel steps leave it behind, by at
// most kHiddenRows - 1 tokens; kMtpState steps, at position mtp_committed, make it catch up. Draft steps have one row a sequence, at its
// committed position and then, guess after guess, at those behind it; they need a layer that has caught up.
class StateStore {
 public:
  virtual ~StateStore() = default;

  // A fresh state with room for `tokens` positions. kMemory when it cannot be had, with the numbers.
  virtual Result<SlotId> open_slot(uint32_t tokens) = 0;

  // A state like that of `from` after its first `position` tokens, with room for `tokens`: full pages are shared, the rest is copied.
  // Where sequences have recurrent states, `position` must be where `from` stands (kInternal).
  virtual Result<SlotId> fork_slot(SlotId from, uint32_t position, uint32_t tokens) = 0;

  virtual void close_slot(SlotId slot) = 0;

  // No more tokens will come: its room is what it holds, and memory that was meant for more is free for others.
  virtual void seal_slot(SlotId slot) = 0;

  // Of the slot's rows in its last step, which were kVerify, the first `rows` (at least 1) are part of the state from now on, as if they
  // had been run one after the other; the others never were. Before anything else is done with the slot but closing it. kInternal if there
  // are no such rows.
  virtual Status accept(SlotId slot, uint32_t rows) = 0;

  virtual uint32_t committed(SlotId slot) const = 0;             // tokens in the state
  virtual uint32_t mtp_committed(SlotId slot) const = 0;         // of them, those that the MTP layer has seen; without it, none
  virtual std::span<const PageId> pages(SlotId slot) const = 0;  // those taken so far, in the order of positions; valid until a step

  virtual uint64_t state_bytes(uint32_t tokens) const = 0;  // of a slot with room for so many, sharing nothing
  virtual uint64_t page_bytes() const = 0;                  // of it, each page's; 0: the model has no attention
  virtual bool recurrent() const = 0;                       // states cannot be cut back to an earlier position

  // What slots hold and what is kept for the next ones.
  struct Usage {
    uint32_t slots = 0;
    uint32_t pages = 0;       // each once, however many share it
    uint64_t bytes = 0;       // of both
    uint64_t kept_bytes = 0;  // taken from the system, free for new slots
  };
  virtual Usage usage() const = 0;
};

class Backend : public StateStore {
 public:
  // Copies the weights in. progress is called with the bytes done so far, from this thread.
  virtual Status load(const WeightTable& weights, const StateLayout& layout,
                      const std::function<void(uint64_t done, uint64_t total)>& progress) = 0;

  // Binds a plan to this backend: buffers, kernels. The returned id stays valid for the backend's life.
  virtual Result<PlanId> prepare(const Plan& plan) = 0;

  // Runs one step: state of the packet's slots advances by their rows. The packet must fit the plan's shape (rows, sequences). An
  // error leaves the packet's slots unusable (close them).
  virtual Status run(PlanId plan, const StepPacket& packet, StepResult& result) = 0;

  virtual StateSnapshot snapshot(SlotId slot, uint32_t gdn_layer) const = 0;

  // What the last step had to move and to multiply, in the order of its plan; empty before the first.
  virtual void traffic(std::vector<OpTraffic>& out) const = 0;

  // What each worker did during the last step; empty before the first. Allocates nothing once `out` has seen a step as long.
  virtual void trace(StepTrace& out) const = 0;
  virtual std::vector<std::string> op_names(PlanId plan) const = 0;  // [ops]: "gdn_step 3", the third of its kind counted from 0
  virtual StepShares shares() const = 0;                             // of the last step; allocates nothing

  // The threads that run steps, and something else for each of them to do between two steps: measurements that must see the same
  // processors. fn must not throw.
  virtual size_t workers() const = 0;
  virtual Status on_workers(const std::function<void(size_t worker)>& fn) = 0;

  // Bytes beside those of states: what stays, and what steps work in.
  struct FixedBytes {
    uint64_t weights = 0, scratch = 0;
  };
  virtual FixedBytes fixed_bytes() const = 0;

  virtual std::vector<SwitchReport> switches() const = 0;
  virtual std::vector<std::string> notes() const = 0;  // what a user should be told once: where the threads run, what hinders them
};

}  // namespace teapot::plan
