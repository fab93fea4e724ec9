// The counters of a server's /metrics, and formulas over them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

// Sums over all labels of a name. Lines that are no samples are skipped: what a server prints beside them is not ours to judge.
using Counters = std::map<std::string, double, std::less<>>;
Counters parse_counters(std::string_view prometheus_text);

// after - before, name by name.
Counters growth(const Counters& before, const Counters& after);

// "NAME", "A / B", "1 + A / B", "A, B" is none: names, numbers, + - * / and brackets. kInvalid: no formula; kNotFound: a name that is
// not there. Division by 0 gives nothing.
Result<std::optional<double>> evaluate(std::string_view formula, const Counters& counters);

}  // namespace teapot::workbench
