#include "cli/reply_report.h"

#include <fmt/format.h>

#include "server/reply_json.h"

namespace teapot::cli {
namespace {

// The first token is prefill's: what decoding gave are the others.
double decode_rate(const engine::Timings& t) { return t.completion_tokens > 1 && t.decode_ms > 0 ? 1000 / t.tpot_ms() : 0; }

}  // namespace

std::string_view finish_reason_name(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::kStop:
      return "stop";
    case engine::FinishReason::kLength:
      return "length";
    case engine::FinishReason::kCancelled:
      return "cancelled";
    case engine::FinishReason::kError:
      return "error";
  }
  return "";
}

Json timings_json(const engine::Timings& t) {
  Json json = server::timings_json(t);
  json["prompt_tokens"] = t.prompt_tokens;
  json["completion_tokens"] = t.completion_tokens;
  return json;
}

std::string timings_line(const engine::Timings& t) {
  std::string line = fmt::format("{} tokens, {:.1f} tok/s, TPOT {:.2f} ms, first token after {:.0f} ms", t.completion_tokens,
                                 decode_rate(t), t.tpot_ms(), t.queue_ms + t.prefill_ms);
  if (t.drafts.rounds == 0) return line;
  line += ", drafts that held by position:";
  for (size_t i = 0; i < t.drafts.drafted.size() && t.drafts.drafted[i] > 0; ++i) {
    line += fmt::format(" {}/{}", t.drafts.accepted[i], t.drafts.drafted[i]);
  }
  return line;
}

}  // namespace teapot::cli
