// How ops are carried out, where there is a choice: every "off" is what one would write first. None changes a bit of the results.
#pragma once

namespace teapot::cpu {

enum class Attention { kHead, kSplit, kAuto };  // a KV head of a row as one piece of work; in pieces of positions; by what the step has
enum class Prefetch { kOff, kShared, kRouted, kAll };

struct OpLevers {
  bool serial_shared_expert = false;  // phases of its own
  bool split_gdn = false;             // convolution, normalisation, recurrence and gated norm as phases with buffers between them
  bool full_logits = false;           // the head writes all logits before the largest is looked for
  Attention attention = Attention::kAuto;
  Prefetch prefetch = Prefetch::kAll;
};

}  // namespace teapot::cpu
