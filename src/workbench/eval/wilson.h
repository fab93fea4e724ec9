// How well a share is known.
#pragma once

#include <cstdint>

namespace teapot::workbench {

struct ShareInterval {
  double low = 0, high = 1;
};

// Wilson's score interval of hits / trials (E. B. Wilson, 1927) at 95 %: it stays within 0 and 1, and is of use for few trials and for
// shares near the ends. Of no trials: 0 to 1.
ShareInterval wilson_95(uint64_t hits, uint64_t trials);

}  // namespace teapot::workbench
