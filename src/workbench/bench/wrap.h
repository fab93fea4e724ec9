// Text broken at blanks, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace teapot::workbench {

// `text` after `head`, in lines of at most `width` columns where its words allow; further lines begin with as many blanks as head has
// columns. Line ends within the text count as blanks. Ends with a line end. head is ASCII.
std::string wrap(std::string_view head, std::string_view text, size_t width = 100);

// Columns that UTF-8 text takes, one a code point.
size_t columns(std::string_view text);

}  // namespace teapot::workbench
