#include "plan/convert_rows.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "plan/dequantize.h"
#include "plan/quantize.h"

namespace teapot::plan {

Status convert_rows(const Matrix& matrix, uint32_t first, uint32_t rows, std::byte* out) {
  assert(first <= matrix.rows && rows <= matrix.rows - first);
  const size_t from_bytes = row_bytes(matrix.source_type(), matrix.cols);
  const size_t to_bytes = row_bytes(matrix.type, matrix.cols);
  std::vector<float> values(matrix.source ? matrix.cols : 0);
  uint32_t run_first = 0;  // the matrix row that the run begins with
  for (const RowRun& run : matrix.runs) {
    const uint32_t begin = std::max(first, run_first);
    const uint32_t end = std::min(first + rows, run_first + run.rows);
    run_first += run.rows;
    if (begin >= end) continue;
    const std::byte* from = run.data + (begin - (run_first - run.rows)) * from_bytes;
    if (!matrix.source) {
      std::memcpy(out, from, (end - begin) * to_bytes);
      out += (end - begin) * to_bytes;
      continue;
    }
    for (uint32_t row = begin; row < end; ++row, from += from_bytes, out += to_bytes) {
      dequantize_row(*matrix.source, from, matrix.cols, values.data());
      if (const Status done = quantize_row(matrix.type, values, out); !done) {
        return at(fmt::format("tensor {}, row {}", matrix.name, row), done.error());
      }
    }
  }
  return {};
}

}  // namespace teapot::plan
