#include "workbench/bench/bench.h"

namespace teapot::workbench {

bool BenchRun::clean() const {
  for (const Load& load : loads) {
    if (load.summary.succeeded != load.summary.requests) return false;
  }
  return complete;
}

}  // namespace teapot::workbench
