#include "workbench/bench/turn_figures.h"

#include <optional>

#include "workbench/bench/summary.h"
#include "workbench/ledger_fields.h"

namespace teapot::workbench {
namespace {

std::string_view why_no_tpot(const RequestRecord& record) {
  if (record.chunks.empty()) return "no event with text";
  if (!record.has_usage) return "no usage in the replies (stream_options.include_usage)";
  if (record.completion_tokens < 2) return "no reply of two tokens";
  return record.chunks.size() == 1 ? "each reply came in one event" : "all events of a reply came in one read";
}

}  // namespace

TurnFigures turn_figures(LoadResult result, bool keep_replies) {
  TurnFigures figures;
  double tpot_sum = 0, ttft_sum = 0;
  uint32_t tpots = 0, ttfts = 0, succeeded = 0;
  for (RequestRecord& record : result.records) {
    ++figures.requests;
    if (record.outcome != Outcome::kOk) {
      if (figures.failed++ == 0) {
        figures.fault = fmt::format("{}: {}", kOutcomeNames[static_cast<size_t>(record.outcome)], record.error);
      }
      continue;
    }
    ++succeeded;
    figures.completion_tokens += record.completion_tokens;
    figures.cached_tokens += record.cached_tokens.value_or(0);
    figures.drafted += record.drafted.value_or(0);
    figures.accepted += record.accepted.value_or(0);
    if (const auto tpot = tpot_ms(record)) {
      tpot_sum += *tpot, ++tpots;
    } else if (figures.untimed.empty()) {
      figures.untimed = why_no_tpot(record);
    }
    if (const auto ttft = ttft_ms(record)) ttft_sum += *ttft, ++ttfts;
    if (keep_replies) figures.replies.push_back(record.reasoning + record.content);
  }
  if (tpots > 0) figures.tpot_ms = tpot_sum / tpots, figures.untimed.clear();
  if (ttfts > 0) figures.ttft_ms = ttft_sum / ttfts;
  if (succeeded > 0) figures.completion_tokens /= succeeded;
  return figures;
}

Json to_json(const TurnFigures& turn) {
  Json json = {{"tpot_ms", turn.tpot_ms},   {"ttft_ms", turn.ttft_ms}, {"completion_tokens", turn.completion_tokens},
               {"requests", turn.requests}, {"failed", turn.failed},   {"cached_tokens", turn.cached_tokens}};
  if (turn.drafted > 0) json["drafted"] = turn.drafted, json["accepted"] = turn.accepted;
  if (!turn.fault.empty()) json["fault"] = turn.fault;
  return json;
}

Result<TurnFigures> parse_turn(const Json& json) {
  TurnFigures turn;
  TEAPOT_TRY(turn.tpot_ms, number_field(json, "tpot_ms"));
  TEAPOT_TRY(turn.ttft_ms, number_field(json, "ttft_ms"));
  TEAPOT_TRY(turn.completion_tokens, number_field(json, "completion_tokens"));
  TEAPOT_TRY(turn.requests, count_field(json, "requests"));
  TEAPOT_TRY(turn.failed, count_field(json, "failed"));
  TEAPOT_TRY(turn.cached_tokens, count_field(json, "cached_tokens"));
  if (json.contains("drafted")) {
    TEAPOT_TRY(turn.drafted, count_field(json, "drafted"));
    TEAPOT_TRY(turn.accepted, count_field(json, "accepted"));
  }
  if (json.contains("fault")) {
    TEAPOT_TRY(turn.fault, text_field(json, "fault"));
  }
  return turn;
}

}  // namespace teapot::workbench
