// The matrix's YAML and the ladder's: any bytes give a plan or an error, and what follows from a plan can be computed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workbench/bench/matrix_cell.h"
#include "workbench/ladder/ladder.h"

namespace {

using namespace teapot::workbench;

void read_ladder(std::string_view text) {
  const auto any = [](const std::string&, const std::string&) -> teapot::Status { return {}; };
  const auto order = parse_ladder_order(text, "ladder.yml", any);
  if (!order) return;
  if (order->rungs.empty() || e_threshold({}, *order) < 1) std::abort();
  for (const LadderRung& rung : order->rungs) {
    if (rung.off == rung.on || rung.line < 1) std::abort();
  }
  teapot::dump_json(to_json(*order));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_ladder(text);
  const auto plan = parse_matrix_plan(text, "matrix.yaml", "matrix");
  if (!plan) return 0;
  const std::vector<MatrixCell> cells = cells_of(*plan);
  if (cells.size() != plan->servers.size() * plan->loads.size() * plan->parallel.size()) std::abort();
  for (const MatrixCell& cell : {cells.front(), cells.back()}) {
    if (cell_name(*plan, cell).find('/') != std::string::npos) std::abort();
    cell_definition(*plan, cell);
  }
  return 0;
}
