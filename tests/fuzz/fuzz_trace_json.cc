// Chrome traces, packed or not: any bytes give slices or a fault; what has steps can be analysed, and its classes add up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workbench/trace/analysis.h"
#include "workbench/trace/byte_stream.h"
#include "workbench/trace/json_reader.h"
#include "workbench/trace/report_json.h"
#include "workbench/trace/report_text.h"
#include "workbench/trace/resolve.h"
#include "workbench/trace/timeline_data.h"

namespace trace = teapot::workbench::trace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rules = trace::Rules::create(nullptr, "");
  auto stream = trace::ByteStream::over({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!stream) return 0;
  trace::RawTrace raw;
  if (!trace::read_json_trace(*stream, raw)) return 0;
  auto slices = trace::resolve(std::move(raw), *rules, "fuzz");
  if (!slices) return 0;
  trace::AnalysisOptions options;
  options.keep_trace = true;
  auto analysis = trace::analyse(std::move(*slices), *rules, options, "fuzz");
  if (!analysis) return 0;
  for (const trace::StepTimes& step : analysis->steps) {
    int64_t sum = 0;
    for (const int64_t ns : step.ns) sum += ns;
    if (sum != step.wall_ns()) std::abort();
  }
  trace::timeline_data(*analysis, 1000);
  std::vector<trace::Analysis> ranks;
  ranks.push_back(std::move(*analysis));
  trace::to_text(ranks, std::nullopt);
  trace::to_json(ranks, std::nullopt);
  return 0;
}
