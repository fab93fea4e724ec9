// A value's text: what it means, and its references to the machine and the trial.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Without these at either end.
std::string_view trimmed(std::string_view text, std::string_view blanks = " ");

// The whole text as a number. Nothing: it is none.
std::optional<double> number_in(std::string_view text);
// "true", "on", "yes", "enabled", or their contraries. Nothing: neither.
std::optional<bool> yes_or_no(std::string_view word);

// Names behind the "@" that begin the text or a word of it: "taskset -c @physical_core_list" has one.
std::vector<std::string> references_in(std::string_view text);
// The text with each reference replaced. replace: its error ends it.
Result<std::string> replace_references(std::string_view text, const std::function<Result<std::string>(std::string_view)>& replace);

// Scalars of a JSON list as words: [1, "a"] is 1 and a; nested lists stay JSON.
std::vector<std::string> words_of(const Json& list);

}  // namespace teapot::workbench
