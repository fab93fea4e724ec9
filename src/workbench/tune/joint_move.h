// A move of one knob together with the others that it needs (experiments.md, sections 2 and 4).
#pragma once

#include "base/error.h"
#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

struct Assignment {
  std::string knob;
  KnobValue value;

  bool operator==(const Assignment&) const = default;
};

// Defaults are left out. One profile has one such form.
KnobProfile canonical(const Catalogue& catalogue, KnobProfile profile);

// `from` with the move, and with what its requirements need (each knob's first value that satisfies them), to any depth; knobs of `from`
// whose requirements no longer hold go back to their defaults. Canonical. kUnsupported: a conflict holds, or a requirement cannot be
// met; the message names it. Conditions that are text are left to the reader.
Result<KnobProfile> closure(const Catalogue& catalogue, const KnobProfile& from, const Assignment& move);

// What must be set to come from one profile to the other, by the knobs' order.
std::vector<Assignment> difference(const Catalogue& catalogue, const KnobProfile& from, const KnobProfile& to);

}  // namespace teapot::workbench
