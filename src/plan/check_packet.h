// Whether a packet fits the plan that it is to run on, before a backend looks at any state.
#pragma once

#include "plan/backend.h"

namespace teapot::plan {

struct PacketLimits {
  size_t rows;    // of the plan
  size_t tokens;  // rows of its embedding table
  size_t vocab;   // of its head; 0: it has none
};

// kInvalid: a token that the vocabulary does not have. kInternal: all else, packets are the engine's.
Status check_packet(const StepPacket& packet, const PacketLimits& limits);

}  // namespace teapot::plan
