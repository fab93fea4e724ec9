// Prompts for a search: plain sentences, no two texts alike, so that drafts are accepted as often as in prose, and no cache helps.
#pragma once

#include <cstdint>
#include <string>

namespace teapot::workbench {

// A function of its arguments alone. About `tokens` tokens: tokenizers make four of three such words.
std::string tune_prompt(uint64_t seed, uint32_t set, uint32_t number, uint32_t tokens);

}  // namespace teapot::workbench
