// A command as one text, and as words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace teapot::workbench {

// As a POSIX shell splits: blanks between words, '…' as it stands, "…" with \" \\ \$ \`, a backslash before anything else. Nothing of
// a shell besides: variables and patterns stay text. kInvalid: a quote or a backslash that does not end.
Result<std::vector<std::string>> split_words(std::string_view text);
// The word as a shell must be told it.
std::string quote_word(std::string_view word);

}  // namespace teapot::workbench
