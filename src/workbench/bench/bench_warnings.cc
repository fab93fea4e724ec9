#include "workbench/bench/bench_warnings.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace teapot::workbench {
namespace {

// More of its threads' time than this, and tokens may have waited for the client.
constexpr double kBusyShare = 0.5;

// "c = 4: 3 of 80 requests failed (stalled): no token came for 1000 ms": one line a kind, with its first message.
void add_failures(const LoadResult& load, const std::string& where, std::vector<std::string>& warnings) {
  std::array<uint32_t, kOutcomeNames.size()> counts{};
  std::array<const RequestRecord*, kOutcomeNames.size()> first{};
  for (const RequestRecord& record : load.records) {
    const auto kind = static_cast<size_t>(record.outcome);
    if (counts[kind]++ == 0) first[kind] = &record;
  }
  for (size_t kind = 1; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    warnings.push_back(fmt::format("{}{} of {} requests: {} (the first, number {}: {})", where, counts[kind], load.records.size(),
                                   kOutcomeNames[kind], first[kind]->index, first[kind]->error));
  }
}

void add_cache(const LoadResult& load, uint32_t shared_tokens, const std::string& where, std::vector<std::string>& warnings) {
  uint64_t cached = 0;
  uint64_t prompt = 0;
  bool hit = false;
  for (const RequestRecord& record : load.records) {
    prompt += record.prompt_tokens;
    cached += record.cached_tokens.value_or(0);
    hit = hit || record.cached_tokens.value_or(0) > shared_tokens;
  }
  if (!hit) return;
  warnings.push_back(fmt::format("{}hit the cache: of {} prompt tokens {} were in the server's prefix cache, which nobody asked for", where,
                                 prompt, cached));
}

}  // namespace

std::vector<std::string> load_warnings(const LoadResult& load, bool streamed, uint32_t shared_tokens) {
  std::vector<std::string> warnings;
  const std::string where = fmt::format("c = {}: ", load.parallel);
  add_failures(load, where, warnings);
  add_cache(load, shared_tokens, where, warnings);
  const auto again = std::ranges::count_if(load.records, &RequestRecord::sent_again);
  if (again > 0) {
    warnings.push_back(fmt::format("{}{} of {} requests were sent again: the server had ended a connection that it had said it keeps",
                                   where, again, load.records.size()));
  }
  const auto untold =
      std::ranges::count_if(load.records, [](const RequestRecord& record) { return record.outcome == Outcome::kOk && !record.has_usage; });
  if (untold > 0) warnings.push_back(fmt::format("{}{} replies without usage: their tokens and TPOT are not known", where, untold));
  const auto unseen = std::ranges::count_if(
      load.records, [](const RequestRecord& record) { return record.outcome == Outcome::kOk && record.chunks.empty(); });
  if (streamed && unseen > 0) warnings.push_back(fmt::format("{}{} replies without text: they have no TTFT", where, unseen));
  const double wall_s = static_cast<double>(load.end_ns - load.start_ns) * 1e-9;
  if (wall_s > 0 && load.client_cpu_s > kBusyShare * wall_s) {
    warnings.push_back(fmt::format("{}the client's threads were busy for {:.0f} % of a processor: its times may be late", where,
                                   100 * load.client_cpu_s / wall_s));
  }
  return warnings;
}

}  // namespace teapot::workbench
