// The matrix's YAML: any bytes give a plan or an error, and what follows from a plan can be computed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workbench/bench/matrix_cell.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teapot::workbench;
  const auto plan = parse_matrix_plan({reinterpret_cast<const char*>(data), size}, "matrix.yaml", "matrix");
  if (!plan) return 0;
  const std::vector<MatrixCell> cells = cells_of(*plan);
  if (cells.size() != plan->servers.size() * plan->loads.size() * plan->parallel.size()) std::abort();
  for (const MatrixCell& cell : {cells.front(), cells.back()}) {
    if (cell_name(*plan, cell).find('/') != std::string::npos) std::abort();
    cell_definition(*plan, cell);
  }
  return 0;
}
