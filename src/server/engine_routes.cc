// GET /v1/status, POST /reset_prefix_cache: what concerns the engine and no request.
#include "server/routes.h"
#include "server/status_json.h"

namespace teapot::server {
namespace {

HttpReply status_reply(const LoadedModel& model) {
  const engine::Engine& engine = *model.engine;
  return json_reply(200, dump_json(status_json({.model = model.served_name,
                                                .family = std::string(model::family_name(engine.config().family)),
                                                .context_tokens = engine.context(),
                                                .context_reason = engine.context_reason(),
                                                .max_seqs = model.max_seqs,
                                                .now = {engine.load(), engine.status()},
                                                .switches = engine.switches(),
                                                .notes = engine.notes()})));
}

HttpReply reset(LoadedModel& model) {
  model.engine->reset_prefix_cache();
  return json_reply(200, dump_json({{"status", "ok"}}));
}

}  // namespace

asio::awaitable<void> engine_status(LoadedModel& model, Exchange& exchange) { co_await exchange.reply(status_reply(model)); }

asio::awaitable<void> reset_prefix_cache(LoadedModel& model, Exchange& exchange) { co_await exchange.reply(reset(model)); }

}  // namespace teapot::server
