// The figures of a load, each with its formula.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "workbench/bench/load.h"

namespace teapot::workbench {

// Percentiles by linear interpolation between the order statistics (as numpy's default). Of no values: all 0, count 0.
struct Distribution {
  uint64_t count = 0;
  double mean = 0, min = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;

  static Distribution of(std::vector<double> values);
};

// TTFT = first chunk - start. kOk records with at least one chunk. Milliseconds. A reply that was not streamed has none.
std::optional<double> ttft_ms(const RequestRecord& record);
// TPOT = (end of the tokens: last_ns - first chunk) / (output tokens of usage - 1), kOk records of at least two tokens in at least two
// reads: a reply in one piece shows no time between its tokens. Milliseconds.
std::optional<double> tpot_ms(const RequestRecord& record);

struct LoadSummary {
  uint32_t parallel = 0;
  double rate = 0;
  uint32_t requests = 0, succeeded = 0;
  std::array<uint32_t, kOutcomeNames.size()> outcomes{};  // [Outcome]
  Distribution ttft_ms, tpot_ms, itl_ms, latency_ms;      // of requests that succeeded; itl_ms between chunks, all requests together
  Distribution chunk_tokens;                              // tokens a chunk: told by the server, or tokens of the reply / its chunks
  double wall_s = 0;                                      // last end - first start
  double output_tok_s = 0, total_tok_s = 0, requests_s = 0;
  uint32_t without_usage = 0;                       // of those that succeeded: then tokens a second are unknown
  double prompt_tokens = 0, completion_tokens = 0;  // mean of those with usage
  std::optional<uint64_t> cached_tokens;            // of all prompts, where the server tells
  std::optional<uint64_t> drafted, accepted;
  double client_cpu_share = 0;  // processor seconds of the client by wall_s
};

LoadSummary summarise(const LoadResult& result);

Json to_json(const LoadSummary& summary);

}  // namespace teapot::workbench
