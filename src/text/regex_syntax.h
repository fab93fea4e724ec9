// A pre-tokenizer's regex is written for Oniguruma (Ruby syntax, Unicode 16) and runs on PCRE2 here: this rewrites what the two
// read differently, and refuses what cannot be the same.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::text {

// The pattern for PCRE2 in UTF mode with the same matches. Known: characters, alternatives, groups ((...), (?:...), (?i:...),
// look-around, atomic), quantifiers, classes, \p{L} \p{M} \p{N}, \s, and (?i) in front of everything; anything else is
// kUnsupported, with its place.
Result<std::string> to_pcre2(std::string_view pattern);

}  // namespace teapot::text
