#include "plan/weight.h"

#include <algorithm>

namespace teapot::plan {

std::vector<RowRun> Matrix::find_rows(uint32_t first, uint32_t count) const {
  const size_t bytes = row_bytes(source_type(), cols);
  std::vector<RowRun> found;
  uint32_t run_first = 0;  // the matrix row that the run begins with
  for (const RowRun& run : runs) {
    const uint32_t begin = std::max(first, run_first);
    const uint32_t end = std::min(first + count, run_first + run.rows);
    if (begin < end) found.push_back({run.data + (begin - run_first) * bytes, end - begin});
    run_first += run.rows;
  }
  return found;
}

}  // namespace teapot::plan
