#include "server/send_reply.h"

#include "server/reply_json.h"

namespace teapot::server {
namespace {

using State = Channel<ReplyStep>::State;

constexpr std::chrono::milliseconds kKeepAlive{2'000};  // of silence before the first token
constexpr std::chrono::milliseconds kNoTimeout = std::chrono::hours(24);

// What a generation that ended without a reply is to the client; nothing, if it ended well.
std::optional<ApiError> failure(const engine::Finish& finish) {
  if (finish.reason == engine::FinishReason::kError) return ApiError{500, finish.error->message, "", "", 0};
  if (finish.reason == engine::FinishReason::kCancelled) return ApiError{503, "the server is stopping", "", "stopping", 1};
  return std::nullopt;
}

asio::awaitable<void> send_whole(Exchange& exchange, Generation& generation, ReplyFormat& format) {
  while (true) {
    auto taken = co_await generation.take(kNoTimeout);
    if (taken.state == State::kAborted) co_return;
    if (taken.state == State::kOverflow) co_return exchange.drop();
    for (ReplyStep& step : taken.items) {
      const auto finish = step.finish;
      const uint32_t reasoning_tokens = step.reasoning_tokens;
      format.add(std::move(step));
      if (!finish) continue;
      if (const auto error = failure(*finish)) {
        co_await exchange.reply(error_reply(*error));
      } else {
        co_await exchange.reply(json_reply(200, dump_json(format.whole(*finish, reasoning_tokens))));
      }
      co_return;
    }
  }
}

asio::awaitable<void> send_stream(Exchange& exchange, Generation& generation, ReplyFormat& format) {
  if (!co_await exchange.begin_events()) co_return;
  bool started = false;
  bool finished = false;
  while (!finished) {
    auto taken = co_await generation.take(started ? kNoTimeout : kKeepAlive);
    if (taken.state == State::kAborted) co_return;
    if (taken.state == State::kOverflow) co_return exchange.drop();
    std::string out;
    for (ReplyStep& step : taken.items) {
      const auto finish = step.finish;
      const uint32_t reasoning_tokens = step.reasoning_tokens;
      started = started || step.token.has_value();
      out += format.events(std::move(step));
      if (!finish) continue;
      finished = true;
      if (const auto error = failure(*finish)) {
        out += "data: " + error_body(*error) + "\n\n";
      } else {
        out += format.last_events(*finish, reasoning_tokens);
      }
      out += kSseDone;
    }
    if (taken.items.empty()) out = kSseKeepAlive;
    if (!co_await exchange.write_events(std::move(out))) co_return;
  }
  co_await exchange.end_events();
}

}  // namespace

asio::awaitable<void> send_reply(Exchange& exchange, LoadedModel& model, engine::GenerateRequest request, engine::ReplyTextOptions text,
                                 ReplyFormat& format, bool stream) {
  const auto generation = Generation::start(exchange, model, std::move(request), std::move(text));
  if (!generation) {
    co_await exchange.reply(error_reply(generation.error()));
  } else if (stream) {
    co_await send_stream(exchange, **generation, format);
  } else {
    co_await send_whole(exchange, **generation, format);
  }
}

}  // namespace teapot::server
