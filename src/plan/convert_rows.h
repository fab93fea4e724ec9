// A matrix' rows as a backend is to hold them: copied, or quantised on the way (Matrix::source).
#pragma once

#include <cstddef>

#include "base/error.h"
#include "plan/weight.h"

namespace teapot::plan {

// out: rows first .. first + rows of the matrix, row_bytes(matrix.type, matrix.cols) bytes each. Any thread, any rows: the bytes of a row
// depend on that row alone. kInvalid names the tensor, its row (counted in the matrix) and column, where a value cannot be quantised
// (quantize.h); a copy cannot fail.
Status convert_rows(const Matrix& matrix, uint32_t first, uint32_t rows, std::byte* out);

}  // namespace teapot::plan
