// What the amx table has of its own; the rest is avx512vnni's.
#pragma once

#include "cpu/kernels/formats.h"
#include "cpu/kernels/kernels.h"

namespace teapot::cpu::amx {

// Of quantised formats that have tiles.
template <class Format>
void tiled_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
              size_t tokens, float* out, size_t out_stride);

}  // namespace teapot::cpu::amx
