// POST /tokenize, POST /detokenize, GET /v1/models: what needs no generation.
#include "server/chat_request.h"
#include "server/completion_request.h"
#include "server/routes.h"
#include "text/detokenizer.h"

namespace teapot::server {
namespace {

// {"prompt": text} or {"messages": [...], ...} (through the chat template) -> ids.
ApiResult<Json> tokenize_body(const LoadedModel& model, const std::string& body_text) {
  TEAPOT_TRY(const Json body, parse_body(body_text));
  const Fields fields(body);
  TEAPOT_TRY(auto prompt, fields.string("prompt"));
  TEAPOT_TRY(const Json* messages, fields.array("messages"));
  TEAPOT_TRY(const auto parse_added, fields.boolean("parse_special"));
  if (prompt.has_value() == (messages != nullptr)) return bad_field("prompt", "give either 'prompt' or 'messages'");
  if (messages != nullptr) {
    TEAPOT_TRY(const Json tools, parse_tools(fields));
    TEAPOT_TRY(const Json context, chat_context(fields, tools));
    TEAPOT_TRY(prompt, render_chat(model.assets, context));
  }
  const auto ids = model.assets.tokenizer.encode(*prompt, parse_added.value_or(true));
  if (!ids) return bad_field("prompt", ids.error().message);
  return Json{{"tokens", *ids}, {"count", ids->size()}, {"max_model_len", model.engine->context()}};
}

ApiResult<Json> detokenize_body(const LoadedModel& model, const std::string& body_text) {
  TEAPOT_TRY(const Json body, parse_body(body_text));
  const Fields fields(body);
  TEAPOT_TRY(const Json* tokens, fields.array("tokens"));
  if (tokens == nullptr) return bad_field("tokens", "'tokens' is missing");
  TEAPOT_TRY(const auto skip_special, fields.boolean("skip_special_tokens"));
  TEAPOT_TRY(const auto ids, parse_ids(*tokens, "tokens", model.engine->config().vocab));
  Json reply;
  reply["prompt"] = text::decode(model.assets.tokenizer, ids, skip_special.value_or(false));
  return reply;
}

HttpReply reply_with(const ApiResult<Json>& result) {
  if (!result) return error_reply(result.error());
  return json_reply(200, dump_json(*result));
}

}  // namespace

asio::awaitable<void> tokenize(LoadedModel& model, Exchange& exchange) {
  co_await exchange.reply(reply_with(tokenize_body(model, exchange.request().body)));
}

asio::awaitable<void> detokenize(LoadedModel& model, Exchange& exchange) {
  co_await exchange.reply(reply_with(detokenize_body(model, exchange.request().body)));
}

asio::awaitable<void> models(LoadedModel& model, Exchange& exchange) {
  Json entry = {{"id", model.served_name},
                {"object", "model"},
                {"created", model.created},
                {"owned_by", "teapot"},
                {"max_model_len", model.engine->context()}};
  Json list = {{"object", "list"}};
  list["data"] = Json::array({std::move(entry)});
  co_await exchange.reply(json_reply(200, dump_json(list)));
}

}  // namespace teapot::server
