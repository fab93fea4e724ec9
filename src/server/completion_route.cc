// POST /v1/completions.
#include "server/completion_reply.h"
#include "server/completion_request.h"
#include "server/routes.h"
#include "server/send_reply.h"
#include "text/detokenizer.h"

namespace teapot::server {
namespace {

struct Prepared {
  CompletionRequest request;
  std::string echo;
};

ApiResult<Prepared> prepare(const LoadedModel& model, const std::string& body_text) {
  TEAPOT_TRY(const Json body, parse_body(body_text));
  TEAPOT_TRY(CompletionRequest request, parse_completion(body, request_defaults(model)));
  engine::GenerateRequest& generate = request.common.generate;
  if (const auto* text = std::get_if<std::string>(&request.prompt)) {
    auto ids = model.assets.tokenizer.encode(*text, true);
    if (!ids) return bad_field("prompt", ids.error().message);
    generate.prompt = *std::move(ids);
  } else {
    generate.prompt = std::get<std::vector<int32_t>>(request.prompt);
  }
  if (generate.prompt.empty()) return bad_field("prompt", "'prompt' has no tokens");
  TEAPOT_CHECK(check_context(generate.prompt.size(), generate.max_tokens, model.engine->context(), "prompt"));
  std::string echo;
  if (request.echo) echo = text::decode(model.assets.tokenizer, generate.prompt, false);
  return Prepared{std::move(request), std::move(echo)};
}

}  // namespace

asio::awaitable<void> completions(LoadedModel& model, Exchange& exchange) {
  auto prepared = prepare(model, exchange.request().body);
  if (!prepared) {
    co_await exchange.reply(error_reply(prepared.error()));
    co_return;
  }
  CommonRequest& common = prepared->request.common;
  engine::ReplyTextOptions text;
  text.stop = std::move(common.stop);
  text.include_stop_str_in_output = common.include_stop_str_in_output;
  text.skip_special_tokens = common.skip_special_tokens;
  text.parse_output = false;
  const StreamUsage usage{common.include_usage, common.continuous_usage, static_cast<uint32_t>(common.generate.prompt.size())};
  CompletionReply reply(model.assets.tokenizer, model.served_name, common.choices, common.generate.top_logprobs.has_value(), usage,
                        prepared->echo, common.generate.prompt.front());
  co_await send_reply(exchange, model, std::move(common.generate), std::move(text), common.choices, reply, common.stream);
}

}  // namespace teapot::server
