// The ids that a draft chooses among: those of the running sequences, and the most frequent ones. A draft step's time is mostly the
// head's; what a smaller head cannot say is not drafted, no reply depends on it. Decode thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/group_counts.h"
#include "plan/backend.h"

namespace teapot::engine {

class DraftVocab {
 public:
  // size: about so many ids, whole groups of rows; from `vocab` on: all of them.
  DraftVocab(uint32_t vocab, uint32_t size);

  // A sequence's life: its prompt, each token that is sampled, and in the end all of both.
  void begin(std::span<const int32_t> prompt);
  void saw(int32_t id);
  void end(std::span<const int32_t> tokens);

  // For a packet; empty: all ids. Valid until the next call, of which there is one a round: the list is made anew for a new prompt, else
  // once in a while.
  std::span<const plan::HeadRows> rows();

  // Could a draft say it, with the rows of the last round?
  bool has(int32_t id) const { return in_[group(id)] != 0; }

  // Sampled ids that a draft could have said, and that it could not.
  struct Coverage {
    uint64_t inside = 0, outside = 0;
  };
  Coverage coverage() const { return coverage_; }

 private:
  static uint32_t group(int32_t id) { return static_cast<uint32_t>(id) / plan::kHeadRowGroup; }
  void choose();

  uint32_t vocab_;
  uint32_t wanted_;             // groups
  GroupCounts context_;         // tokens of the running sequences
  GroupCounts sampled_;         // tokens of all replies, the latest count most
  uint32_t sampled_total_ = 0;  // of sampled_, about
  std::vector<uint8_t> in_;     // [groups]
  std::vector<uint32_t> rest_;  // bins of sampled_, without the groups that the context has brought in
  std::vector<plan::HeadRows> rows_;
  uint32_t age_ = 0;  // of the list, in rounds
  Coverage coverage_;
};

}  // namespace teapot::engine
