// Records as a client would have made them, for tests of figures and reports.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "workbench/bench/load.h"

namespace teapot::workbench {

struct ReplyTimes {
  double start_ms = 0;
  std::vector<double> chunks_ms = {};
  double last_ms = 0, end_ms = 0;
  uint32_t tokens = 0, prompt = 100;
};

inline int64_t ns_of(double ms) { return static_cast<int64_t>(ms * 1e6); }

inline RequestRecord reply(const ReplyTimes& times) {
  RequestRecord record;
  record.status = 200;
  record.start_ns = ns_of(times.start_ms);
  record.first_ns = times.chunks_ms.empty() ? 0 : ns_of(times.chunks_ms.front());
  record.last_ns = ns_of(times.last_ms);
  record.end_ns = ns_of(times.end_ms);
  for (const double at_ms : times.chunks_ms) record.chunks.push_back({.at_ns = ns_of(at_ms)});
  record.has_usage = true;
  record.prompt_tokens = times.prompt;
  record.completion_tokens = times.tokens;
  record.finish_reason = "length";
  return record;
}

inline LoadResult load_of(std::vector<RequestRecord> records, uint32_t parallel = 1) {
  LoadResult load;
  load.parallel = parallel;
  load.records = std::move(records);
  load.start_ns = load.records.front().start_ns;
  for (size_t i = 0; i < load.records.size(); ++i) {
    load.records[i].index = static_cast<uint32_t>(i);
    load.start_ns = std::min(load.start_ns, load.records[i].start_ns);
    load.end_ns = std::max(load.end_ns, load.records[i].end_ns);
  }
  return load;
}

}  // namespace teapot::workbench
