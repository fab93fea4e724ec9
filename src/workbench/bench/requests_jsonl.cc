#include <cmath>

#include "workbench/bench/reports.h"

#include "workbench/optional_json.h"

namespace teapot::workbench {
namespace {

// Microseconds are what a socket's read can be trusted with.
double ms_from(int64_t start_ns, int64_t at_ns) { return std::round(static_cast<double>(at_ns - start_ns) / 1e3) / 1e3; }

// A time that was never reached is null.
Json time_json(int64_t start_ns, int64_t at_ns) { return at_ns == 0 ? Json() : Json(ms_from(start_ns, at_ns)); }

Json request_json(const RequestRecord& record, const LoadResult& load) {
  Json json{{"parallel", load.parallel},
            {"index", record.index},
            {"outcome", kOutcomeNames[static_cast<size_t>(record.outcome)]},
            {"status", record.status}};
  if (!record.error.empty()) json["error"] = record.error;
  if (record.sent_again) json["sent_again"] = true;
  json["start_ms"] = time_json(load.start_ns, record.start_ns);
  json["first_ms"] = time_json(load.start_ns, record.first_ns);
  json["last_ms"] = time_json(load.start_ns, record.last_ns);
  json["end_ms"] = time_json(load.start_ns, record.end_ns);
  json["ttft_ms"] = or_null(ttft_ms(record));
  json["tpot_ms"] = or_null(tpot_ms(record));
  json["prompt_tokens"] = record.prompt_tokens;
  json["completion_tokens"] = record.completion_tokens;
  json["cached_tokens"] = or_null(record.cached_tokens);
  json["drafted"] = or_null(record.drafted);
  json["accepted"] = or_null(record.accepted);
  json["finish_reason"] = record.finish_reason;
  json["content"] = record.content;
  json["reasoning"] = record.reasoning;
  Json chunks = Json::array(), tokens = Json::array();
  bool told = false;
  for (const Chunk& chunk : record.chunks) {
    chunks.push_back(ms_from(load.start_ns, chunk.at_ns));
    tokens.push_back(chunk.tokens);
    told = told || chunk.tokens > 0;
  }
  json["chunks_ms"] = std::move(chunks);
  if (told) json["chunk_tokens"] = std::move(tokens);
  return json;
}

}  // namespace

std::string requests_jsonl(const BenchRun& run) {
  std::string lines;
  for (const BenchRun::Load& load : run.loads) {
    for (const RequestRecord& record : load.result.records) lines += dump_json(request_json(record, load.result)) + '\n';
  }
  return lines;
}

}  // namespace teapot::workbench
