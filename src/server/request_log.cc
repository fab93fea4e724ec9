#include "server/request_log.h"

#include <fmt/format.h>

#include "base/log.h"
#include "server/metrics.h"

namespace teapot::server {

namespace {

std::string known(bool there, double ms) { return there ? fmt::format("{:.3f}", ms) : "-"; }

}  // namespace

std::string reply_line(const engine::ReplyRecord& reply) {
  const engine::Timings& t = reply.timings;
  std::string line =
      fmt::format("request id={} choice={} prompt={} cached={} completion={} queue_ms={:.3f} ttft_ms={} tpot_ms={} finish={}",
                  reply.request, reply.choice, t.prompt_tokens, t.cached_tokens, t.completion_tokens, t.queue_ms,
                  known(t.completion_tokens > 0, t.ttft_ms()), known(t.completion_tokens > 1, t.tpot_ms()), finish_label(reply.reason));
  if (!reply.error.empty()) line += fmt::format(" error={:?}", reply.error);
  return line;
}

std::string divergence_line(const engine::PromptRecord& prompt, std::string_view cached, std::string_view prompted) {
  return fmt::format("prompt id={} tokens={} cached={} diverges_at={} cached_token={} cached_text={:?} prompt_token={} prompt_text={:?}",
                     prompt.request, prompt.tokens, prompt.cached, prompt.index, prompt.cached_token, cached, prompt.prompt_token,
                     prompted);
}

void RequestLog::on_prompt(const engine::PromptRecord& prompt) {
  if (!prompt.diverges || !spdlog::should_log(spdlog::level::debug)) return;
  log::debug("{}", divergence_line(prompt, token_bytes_(prompt.cached_token), token_bytes_(prompt.prompt_token)));
}

void RequestLog::on_reply(const engine::ReplyRecord& reply) {
  if (reply.reason == engine::FinishReason::kError) {
    log::error("{}", reply_line(reply));
  } else {
    log::info("{}", reply_line(reply));
  }
}

}  // namespace teapot::server
