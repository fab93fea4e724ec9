// Nsight Systems' SQLite export: any bytes give slices or a fault, and what has steps can be analysed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "workbench/trace/analysis.h"
#include "workbench/trace/nsight.h"

namespace trace = teapot::workbench::trace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rules = trace::Rules::create(nullptr, "");
  const auto database = trace::open_database({data, size});
  if (!database) return 0;
  auto slices = trace::read_nsight(database->get(), *rules, "fuzz");
  if (!slices) return 0;
  for (const uint32_t device : trace::devices(*slices)) {
    trace::Trace part = *slices;
    trace::keep_device(part, device);
    const auto analysis = trace::analyse(std::move(part), *rules, {}, "fuzz");
    if (!analysis) continue;
    for (const trace::StepTimes& step : analysis->steps) {
      int64_t sum = 0;
      for (const int64_t ns : step.ns) sum += ns;
      if (sum != step.wall_ns()) std::abort();
    }
  }
  return 0;
}
