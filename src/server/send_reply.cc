#include "server/send_reply.h"

#include "server/reply_json.h"

namespace teapot::server {
namespace {

using State = Channel<ReplyStep>::State;

constexpr std::chrono::milliseconds kKeepAlive{2'000};  // of silence before the first token
constexpr std::chrono::milliseconds kNoTimeout = std::chrono::hours(24);

// What a choice that ends here without a reply is to the client; nothing, if it ends well or goes on.
std::optional<ApiError> failure(const ReplyStep& step) {
  if (!step.finish) return std::nullopt;
  if (step.finish->reason == engine::FinishReason::kError) return ApiError{500, step.finish->error->message, "", "", 0};
  if (step.finish->reason == engine::FinishReason::kCancelled) return ApiError{503, "the server is stopping", "", "stopping", 1};
  return std::nullopt;
}

// A choice that fails ends the reply; leaving cancels the others.
asio::awaitable<void> send_whole(Exchange& exchange, Generation& generation, ReplyFormat& format) {
  State state = State::kOpen;
  while (state != State::kFinished) {
    auto taken = co_await generation.take(kNoTimeout);
    state = taken.state;
    if (state == State::kAborted) co_return;
    if (state == State::kOverflow) co_return exchange.drop();
    for (ReplyStep& step : taken.items) {
      const auto error = failure(step);
      if (error) co_return co_await exchange.reply(error_reply(*error));
      format.add(std::move(step));
    }
  }
  co_await exchange.reply(json_reply(200, dump_json(format.whole())));
}

asio::awaitable<void> send_stream(Exchange& exchange, Generation& generation, ReplyFormat& format) {
  if (!co_await exchange.begin_events()) co_return;
  bool started = false;
  bool finished = false;
  while (!finished) {
    const auto timeout = started ? kNoTimeout : kKeepAlive;
    auto taken = co_await generation.take(timeout);
    if (taken.state == State::kAborted) co_return;
    if (taken.state == State::kOverflow) co_return exchange.drop();
    std::string out;
    std::optional<ApiError> error;
    for (ReplyStep& step : taken.items) {
      started = started || step.token.has_value();
      if (error = failure(step); error) break;
      out += format.events(std::move(step));
    }
    finished = error || taken.state == State::kFinished;
    if (error) {
      out += "data: " + error_body(*error) + "\n\n";
    } else if (finished) {
      out += format.last_events();
    }
    if (finished) out += kSseDone;
    if (taken.items.empty() && !finished) out = kSseKeepAlive;
    if (!co_await exchange.write_events(std::move(out))) co_return;
  }
  co_await exchange.end_events();
}

}  // namespace

asio::awaitable<void> send_reply(Exchange& exchange, LoadedModel& model, engine::GenerateRequest request, engine::ReplyTextOptions text,
                                 uint32_t choices, ReplyFormat& format, bool stream) {
  const auto generation = Generation::start(exchange, model, std::move(request), text, choices);
  if (!generation) {
    co_await exchange.reply(error_reply(generation.error()));
  } else if (stream) {
    co_await send_stream(exchange, **generation, format);
  } else {
    co_await send_whole(exchange, **generation, format);
  }
}

}  // namespace teapot::server
