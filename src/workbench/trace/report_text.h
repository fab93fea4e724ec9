// The answer for people, on a terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/trace/analysis.h"
#include "workbench/trace/compare.h"

namespace teapot::workbench::trace {

// Each rank's steps, classes, operators, gaps, collectives and advice; ranks side by side where there are several; what changed against
// another trace.
std::string to_text(const std::vector<Analysis>& ranks, const std::optional<Comparison>& against);

// A kernel's name without its template arguments and parameters, at most `length` characters.
std::string short_name(std::string_view name, size_t length);

// What a warning means, in words: "218 slices ran over the next one of their stream: clipped".
std::vector<std::string> warning_texts(const Analysis& analysis);

std::string_view meaning_of(Class kind);

}  // namespace teapot::workbench::trace
