#include "plan/convert_rows.h"

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
  uint32_t row = first;
  for (const RowRun& run : matrix.find_rows(first, rows)) {
    if (!matrix.source) {
      std::memcpy(out, run.data, run.rows * to_bytes);
      out += run.rows * to_bytes;
      continue;
    }
    const std::byte* from = run.data;
    for (uint32_t i = 0; i < run.rows; ++i, ++row, from += from_bytes, out += to_bytes) {
      dequantize_row(*matrix.source, from, matrix.cols, values.data());
      if (const Status done = quantize_row(matrix.type, values, out); !done) {
        return at(fmt::format("tensor {}, row {}", matrix.name, row), done.error());
      }
    }
  }
  return {};
}

}  // namespace teapot::plan
