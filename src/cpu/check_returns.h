// Whether the rows of a packet may ask for what they ask for.
#pragma once

#include "plan/backend.h"

namespace teapot::cpu {

// vocab: of the plan's head; 0: the plan has none. kInternal: packets are the engine's.
Status check_returns(const plan::StepPacket& packet, size_t vocab);

}  // namespace teapot::cpu
