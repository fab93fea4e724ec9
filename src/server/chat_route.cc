// POST /v1/chat/completions.
#include "server/chat_reply.h"
#include "server/chat_request.h"
#include "server/routes.h"
#include "server/send_reply.h"

namespace teapot::server {
namespace {

struct Prepared {
  engine::GenerateRequest generate;
  engine::ReplyTextOptions text;
  uint32_t choices = 1;
  bool stream = false;
  StreamUsage usage;
};

ApiResult<Prepared> prepare(const LoadedModel& model, const std::string& body_text) {
  TEAPOT_TRY(const Json body, parse_body(body_text));
  TEAPOT_TRY(ChatRequest request, parse_chat(body, request_defaults(model)));
  TEAPOT_TRY(ChatPrompt prompt, chat_prompt(model.assets, request.context));
  TEAPOT_CHECK(check_context(prompt.ids.size(), request.common.generate.max_tokens, model.engine->context(), "messages"));

  Prepared prepared;
  prepared.generate = std::move(request.common.generate);
  prepared.usage.prompt_tokens = static_cast<uint32_t>(prompt.ids.size());
  prepared.generate.prompt = std::move(prompt.ids);
  prepared.generate.message_end = prompt.message_end;
  prepared.choices = request.common.choices;
  prepared.stream = request.common.stream;
  prepared.usage.at_end = request.common.include_usage;
  prepared.usage.in_each = request.common.continuous_usage;
  prepared.text.stop = std::move(request.common.stop);
  prepared.text.include_stop_str_in_output = request.common.include_stop_str_in_output;
  prepared.text.skip_special_tokens = request.common.skip_special_tokens;
  prepared.text.tool_format = request.tools.empty() ? text::ToolFormat::kNone : model.assets.facts.tool_format;
  prepared.text.starts_in_reasoning = text::starts_in_reasoning(prompt.text);
  prepared.text.tools = std::move(request.tools);
  return prepared;
}

}  // namespace

asio::awaitable<void> chat_completions(LoadedModel& model, Exchange& exchange) {
  auto prepared = prepare(model, exchange.request().body);
  if (!prepared) {
    co_await exchange.reply(error_reply(prepared.error()));
    co_return;
  }
  ChatReply reply(model.assets.tokenizer, model.served_name, prepared->choices, prepared->generate.top_logprobs.has_value(),
                  prepared->usage);
  co_await send_reply(exchange, model, std::move(prepared->generate), std::move(prepared->text), prepared->choices, reply,
                      prepared->stream);
}

}  // namespace teapot::server
