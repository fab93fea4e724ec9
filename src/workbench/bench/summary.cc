#include "workbench/bench/summary.h"

namespace teapot::workbench {
namespace {

constexpr double kNsPerMs = 1e6;
double ms_between(int64_t from_ns, int64_t to_ns) { return static_cast<double>(to_ns - from_ns) / kNsPerMs; }

// Tokens that each chunk of a reply brought: as told, or all alike.
void add_chunk_tokens(const RequestRecord& record, std::vector<double>& values) {
  uint64_t told = 0;
  for (const Chunk& chunk : record.chunks) told += chunk.tokens;
  if (told == 0 && !record.has_usage) return;
  const double mean = static_cast<double>(record.completion_tokens) / static_cast<double>(record.chunks.size());
  for (const Chunk& chunk : record.chunks) values.push_back(told > 0 ? static_cast<double>(chunk.tokens) : mean);
}

template <class T>
void add_to(std::optional<uint64_t>& sum, const std::optional<T>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

double rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

}  // namespace

std::optional<double> ttft_ms(const RequestRecord& record) {
  if (record.outcome != Outcome::kOk || record.chunks.empty()) return std::nullopt;
  return ms_between(record.start_ns, record.first_ns);
}

std::optional<double> tpot_ms(const RequestRecord& record) {
  if (record.outcome != Outcome::kOk || record.chunks.empty() || record.completion_tokens < 2) return std::nullopt;
  if (record.chunks.back().at_ns == record.first_ns) return std::nullopt;
  return ms_between(record.first_ns, record.last_ns) / (record.completion_tokens - 1);
}

LoadSummary summarise(const LoadResult& result) {
  LoadSummary summary;
  summary.parallel = result.parallel;
  summary.rate = result.rate;
  summary.requests = static_cast<uint32_t>(result.records.size());
  std::vector<double> ttft, tpot, itl, latency, chunk_tokens;
  double prompt_tokens = 0, completion_tokens = 0;
  for (const RequestRecord& record : result.records) {
    ++summary.outcomes[static_cast<size_t>(record.outcome)];
    if (record.outcome != Outcome::kOk) continue;
    ++summary.succeeded;
    latency.push_back(ms_between(record.start_ns, record.end_ns));
    if (const auto value = ttft_ms(record)) ttft.push_back(*value);
    if (const auto value = tpot_ms(record)) tpot.push_back(*value);
    for (size_t i = 1; i < record.chunks.size(); ++i) itl.push_back(ms_between(record.chunks[i - 1].at_ns, record.chunks[i].at_ns));
    if (!record.chunks.empty()) add_chunk_tokens(record, chunk_tokens);
    if (!record.has_usage) ++summary.without_usage;
    prompt_tokens += record.prompt_tokens;
    completion_tokens += record.completion_tokens;
    add_to(summary.cached_tokens, record.cached_tokens);
    add_to(summary.drafted, record.drafted);
    add_to(summary.accepted, record.accepted);
  }
  summary.ttft_ms = Distribution::of(std::move(ttft));
  summary.tpot_ms = Distribution::of(std::move(tpot));
  summary.itl_ms = Distribution::of(std::move(itl));
  summary.latency_ms = Distribution::of(std::move(latency));
  summary.chunk_tokens = Distribution::of(std::move(chunk_tokens));
  summary.wall_s = ms_between(result.start_ns, result.end_ns) / 1e3;
  summary.output_tok_s = rate(completion_tokens, summary.wall_s);
  summary.total_tok_s = rate(prompt_tokens + completion_tokens, summary.wall_s);
  summary.requests_s = rate(summary.succeeded, summary.wall_s);
  if (const uint32_t with_usage = summary.succeeded - summary.without_usage; with_usage > 0) {
    summary.prompt_tokens = prompt_tokens / with_usage;
    summary.completion_tokens = completion_tokens / with_usage;
  }
  summary.client_cpu_share = rate(result.client_cpu_s, summary.wall_s);
  return summary;
}

}  // namespace teapot::workbench
