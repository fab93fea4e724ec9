// A run as a good server would have given it, for tests of reports.
#pragma once

#include <span>

#include "workbench/bench/bench.h"
#include "workbench/bench/records_for_tests.h"

namespace teapot::workbench {

// A load for each of `parallel`, of so many requests and tokens each; TTFT 50 ms, TPOT 10 ms, a little uneven.
inline BenchRun run_for_tests(const std::vector<uint32_t>& parallel, uint32_t requests, uint32_t tokens) {
  BenchRun run;
  run.name = "demo";
  run.conditions = Json{{"teapot", "0.1.0"},
                        {"started", "2026-01-02T03:04:05Z"},
                        {"clock", "CLOCK_MONOTONIC"},
                        {"host", {{"cpu", "A processor of ours"}, {"cores", 8}, {"memory_bytes", 34359738368}}},
                        {"server",
                         {{"url", "http://127.0.0.1:8000/v1/chat/completions"},
                          {"model", "demo"},
                          {"levers", {{"gdn", {{"requested", "auto"}, {"active", "split, fused"}}}}}}},
                        {"dataset", {{"dataset", "random"}, {"seed", 7}, {"min_prompt_length", 100}}},
                        {"request", {{"stream", true}, {"max_tokens", tokens}}},
                        {"client", {{"cpus", {6, 7}}, {"overhead", {{"us_per_event", 1.5}}}}}};
  for (const uint32_t c : parallel) {
    std::vector<RequestRecord> records;
    for (uint32_t i = 0; i < requests; ++i) {
      ReplyTimes times;
      const uint32_t wave = i / c;
      times.start_ms = 1000 + wave * (60.0 + 11 * tokens) + 5 * (i % c);
      for (uint32_t token = 0; token < tokens; ++token) {
        times.chunks_ms.push_back(times.start_ms + 50 + 3 * (i % 5) + 10 * token + 0.37 * ((token * 7 + i) % 5));
      }
      times.last_ms = times.chunks_ms.back();
      times.end_ms = times.last_ms + 0.1;
      times.tokens = tokens;
      records.push_back(reply(times));
      records.back().drafted = tokens;
      records.back().accepted = tokens / 2;
      records.back().cached_tokens = 0;
      records.back().content = "a reply";
    }
    BenchRun::Load load;
    load.result = load_of(std::move(records), c);
    load.summary = summarise(load.result);
    run.loads.push_back(std::move(load));
  }
  return run;
}

}  // namespace teapot::workbench
