// Which kernel table runs: the best that the processor has, or the one that was asked for.
#pragma once

#include <string_view>

#include "base/error.h"
#include "cpu/kernels/kernels.h"

namespace teapot::cpu {

// name: auto, scalar, avx2, avx512, avx512vnni. One that this processor lacks is kUnsupported, naming what is missing.
Result<const KernelTable*> select_kernels(std::string_view name);

}  // namespace teapot::cpu
