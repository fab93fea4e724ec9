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
bool is_formula(std::string_view text);

// "A / B" as A and B; nothing: the formula is no single ratio.
struct Ratio {
  std::string_view above, below;
};
std::optional<Ratio> ratio_in(std::string_view formula);

// Of what has grown, as a ledger keeps it: what isn't 0 and what `named` names, at most some hundred; of more, those that `named` names
// and those of drafts and tokens.
Counters worth_keeping(const Counters& grown, std::string_view named);

}  // namespace teapot::workbench
