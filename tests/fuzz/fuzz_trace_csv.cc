// Lists of kernels: any bytes give slices or a fault, and what has steps can be analysed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workbench/trace/analysis.h"
#include "workbench/trace/byte_stream.h"
#include "workbench/trace/kernel_csv.h"

namespace trace = teapot::workbench::trace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rules = trace::Rules::create(nullptr, "");
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string format;
  trace::is_kernel_csv(bytes, format);
  auto stream = trace::ByteStream::over(bytes, "fuzz");
  if (!stream) return 0;
  trace::Trace slices;
  if (!trace::read_kernel_csv(*stream, *rules, slices)) return 0;
  trace::Trace again = slices;
  trace::take_bytes(slices, again);
  const auto analysis = trace::analyse(std::move(slices), *rules, {}, "fuzz");
  if (!analysis) return 0;
  for (const trace::StepTimes& step : analysis->steps) {
    int64_t sum = 0;
    for (const int64_t ns : step.ns) sum += ns;
    if (sum != step.wall_ns()) std::abort();
  }
  return 0;
}
