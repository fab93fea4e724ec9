#include "server/generation.h"

namespace teapot::server {
namespace {

// Called on the engine's thread.
class ChannelSink : public engine::ReplySink {
 public:
  ChannelSink(engine::ReplyText text, std::shared_ptr<Channel<ReplyStep>> channel) : text_(std::move(text)), channel_(std::move(channel)) {}

  void on_prompt_logprobs(const std::vector<engine::TokenEvent>& events) override {
    ReplyStep step;
    step.prompt_logprobs = events;
    channel_->push(std::move(step), events.size() * sizeof(engine::TokenEvent));
  }

  bool on_token(const engine::TokenEvent& event) override {
    ReplyStep step;
    step.token = event;
    step.deltas = text_.push(event);
    const bool wanted = channel_->push(std::move(step), kStepWeight + event.top.size() * sizeof(engine::TokenLogprob));
    return wanted && !text_.stopped();
  }

  void on_finish(const engine::Finish& finish) override {
    ReplyStep step;
    step.deltas = text_.finish(finish.reason);
    step.finish = finish;
    step.reasoning_tokens = text_.reasoning_tokens();
    channel_->push(std::move(step), kStepWeight);
    channel_->finish();
  }

 private:
  static constexpr size_t kStepWeight = 512;  // bytes that a token's event takes on the wire, about

  engine::ReplyText text_;
  std::shared_ptr<Channel<ReplyStep>> channel_;
};

ApiError api_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kBusy:
      return {429, error.message, "", "queue_full", 1};
    case ErrorKind::kInvalid:
      return {400, error.message, "", "", 0};
    case ErrorKind::kMemory:
      return {503, error.message, "", "out_of_memory", 1};
    default:
      return {500, error.message, "", "", 0};
  }
}

}  // namespace

ApiResult<std::unique_ptr<Generation>> Generation::start(Exchange& exchange, LoadedModel& model, engine::GenerateRequest request,
                                                         engine::ReplyTextOptions text) {
  auto reply_text = engine::ReplyText::create(model.assets, std::move(text));
  if (!reply_text) return std::unexpected(api_error(reply_text.error()));
  auto channel = std::make_shared<Channel<ReplyStep>>(exchange.executor(), exchange.limits().stream_buffer_bytes);
  std::unique_ptr<Generation> generation(new Generation(*model.engine, channel));
  auto id = model.engine->submit(std::move(request), std::make_shared<ChannelSink>(*std::move(reply_text), channel));
  if (!id) {
    generation->channel_ = nullptr;
    return std::unexpected(api_error(id.error()));
  }
  generation->id_ = *id;
  exchange.on_gone([engine = model.engine.get(), id = *id, channel] {
    engine->cancel(id);
    channel->abort();
  });
  return generation;
}

Generation::~Generation() {
  if (channel_ == nullptr) return;
  engine_.cancel(id_);
  channel_->abort();
}

ApiResult<void> check_context(size_t prompt_tokens, uint32_t max_tokens, uint32_t context, const char* param) {
  if (prompt_tokens >= context)
    return std::unexpected(
        ApiError{400,
                 fmt::format("the prompt has {} tokens, this server's context length is {} tokens, and the reply needs one at least",
                             prompt_tokens, context),
                 param, "context_length_exceeded", 0});
  if (max_tokens > context - prompt_tokens)
    return std::unexpected(
        ApiError{400,
                 fmt::format("the prompt has {} tokens and {} are asked for, together {}; this server's context length is {} tokens",
                             prompt_tokens, max_tokens, prompt_tokens + max_tokens, context),
                 "max_tokens", "context_length_exceeded", 0});
  return {};
}

}  // namespace teapot::server
