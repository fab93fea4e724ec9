// What a reader of a run's figures must know beside them, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workbench/bench/load.h"

namespace teapot::workbench {

// Of one load. shared_tokens: of each prompt, that all share and that a prefix cache may know without anybody's having wished it (the
// template's beginning, and what was asked for by --prefix-length).
std::vector<std::string> load_warnings(const LoadResult& load, bool streamed, uint32_t shared_tokens);

}  // namespace teapot::workbench
