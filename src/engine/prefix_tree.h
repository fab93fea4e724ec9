// Token sequences by their beginnings: a radix tree. What two sequences share is kept once, and how far a prompt goes along with any of
// them is found in one walk over it, token against token: nothing is taken for equal that is not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace teapot::engine {

struct Checkpoint;

// Where a kept sequence ends, or where some part. Stays where it is in memory as long as it is there.
struct PrefixNode {
  PrefixNode* parent = nullptr;                              // null: the root
  std::vector<int32_t> edge;                                 // tokens between the parent and here
  uint32_t depth = 0;                                        // tokens between the root and here
  std::map<int32_t, std::unique_ptr<PrefixNode>> branches;   // by the first token of their edges
  Checkpoint* checkpoint = nullptr;                          // of the sequence that ends here; null: none does
  uint32_t counted = 0;                                      // checkpoints here and below, as the owner of the tree counts them
};

class PrefixTree {
 public:
  // How far tokens lead into the tree.
  struct Match {
    PrefixNode* node;  // where they end, or the next below if that is within an edge
    uint32_t tokens;   // shared by all that lies at and below the node
  };
  Match match(std::span<const int32_t> tokens) const;

  // The node of just these tokens (at least one), made if there is none. Whoever gets it gives it a checkpoint.
  PrefixNode& insert(std::span<const int32_t> tokens);

  // A node that has lost its checkpoint: goes, unless others part there.
  void remove(PrefixNode& node);

  void clear() { root_ = std::make_unique<PrefixNode>(); }

 private:
  // A node within the edge of `below`, so many tokens from the root.
  PrefixNode& split(PrefixNode& below, uint32_t depth);
  // The node takes the edge of its parent on, which nothing needs any more.
  void join(PrefixNode& node);

  std::unique_ptr<PrefixNode> root_ = std::make_unique<PrefixNode>();
};

}  // namespace teapot::engine
