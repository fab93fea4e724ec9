#include "server/status_json.h"

namespace teapot::server {
namespace {

const char* name_of(engine::SequenceState state) {
  switch (state) {
    case engine::SequenceState::kWaiting:
      return "waiting";
    case engine::SequenceState::kPrefill:
      return "prefill";
    case engine::SequenceState::kDecode:
      return "decode";
  }
  return "";
}

Json sequences_json(const std::vector<engine::EngineStatus::Sequence>& sequences) {
  Json list = Json::array();
  for (const auto& s : sequences) {
    list.push_back({{"request", s.request},
                    {"choice", s.choice},
                    {"state", name_of(s.state)},
                    {"prompt_tokens", s.prompt_tokens},
                    {"cached_tokens", s.cached_tokens},
                    {"computed_tokens", s.computed_tokens},
                    {"completion_tokens", s.completion_tokens},
                    {"age_s", s.age_s}});
  }
  return list;
}

}  // namespace

Json status_json(const StatusFacts& facts) {
  const engine::EngineStatus& status = facts.now.status;
  Json json = {
      {"model", {{"id", facts.model}, {"family", facts.family}}},
      {"context", {{"tokens", facts.context_tokens}, {"reason", facts.context_reason}}},
      {"load", {{"running", facts.now.load.running}, {"waiting", facts.now.load.waiting}, {"max_seqs", facts.max_seqs}}},
      {"memory",
       {{"weights", status.weights},
        {"scratch", status.scratch},
        {"state_budget", status.state_budget},
        {"state_promised", status.state_promised},
        {"state_used", status.state_used},
        {"state_kept", status.state_kept},
        {"kv_pages", status.kv_pages},
        {"kv_page_bytes", status.kv_page_bytes}}},
      {"prefix_cache",
       {{"budget", status.cache_budget},
        {"used", status.cache_used},
        {"checkpoints", status.checkpoints},
        {"evictions", status.evictions},
        {"query_tokens", status.cache_queries},
        {"hit_tokens", status.cache_hits}}},
      {"counters",
       {{"steps", status.steps},
        {"prompt_tokens", status.prompt_tokens},
        {"prefilled_tokens", status.prefilled_tokens},
        {"generation_tokens", status.generation_tokens},
        {"draft_vocab_hits", status.draft_vocab_hits},
        {"draft_vocab_misses", status.draft_vocab_misses},
        {"plan_hits", status.plan_hits},
        {"plan_misses", status.plan_misses}}},
  };
  json["sequences"] = sequences_json(status.sequences);
  json["switches"] = plan::to_json(facts.switches);
  json["notes"] = facts.notes;
  return json;
}

}  // namespace teapot::server
