#include "server/generation.h"

#include <algorithm>
#include <cmath>

namespace teapot::server {
namespace {

// Bytes on the wire, about: of a token's event, and of one alternative to it.
constexpr size_t kStepWeight = 512;
constexpr size_t kLogprobWeight = 96;

size_t weight_of(const engine::TokenEvent& event) { return kStepWeight + event.top.size() * kLogprobWeight; }

// Of one choice. Called on the engine's reply thread.
class ChannelSink : public engine::ReplySink {
 public:
  // open: choices of the request that have not finished.
  ChannelSink(uint32_t choice, engine::ReplyText text, std::shared_ptr<Channel<ReplyStep>> channel, std::shared_ptr<uint32_t> open)
      : choice_(choice), text_(std::move(text)), channel_(std::move(channel)), open_(std::move(open)) {}

  void on_prompt_logprobs(const std::vector<engine::TokenEvent>& events) override {
    ReplyStep step{.choice = choice_};
    step.prompt_logprobs = events;
    channel_->push(std::move(step), 0);  // all at once, whoever reads: their size is the request's, no sign of a slow reader
  }

  bool on_token(const engine::TokenEvent& event) override {
    ReplyStep step{.choice = choice_};
    step.token = event;
    step.deltas = text_.push(event);
    gone_ = !channel_->push(std::move(step), weight_of(event));
    return !gone_ && !text_.stopped();
  }

  bool gone() const override { return gone_; }

  void on_finish(const engine::Finish& finish) override {
    ReplyStep step{.choice = choice_};
    step.deltas = text_.finish(finish.reason);
    step.finish = finish;
    step.reasoning_tokens = text_.reasoning_tokens();
    channel_->push(std::move(step), kStepWeight);
    if (--*open_ == 0) channel_->finish();
  }

 private:
  const uint32_t choice_;
  engine::ReplyText text_;
  std::shared_ptr<Channel<ReplyStep>> channel_;
  std::shared_ptr<uint32_t> open_;  // reply thread
  bool gone_ = false;               // reply thread
};

// seconds_a_place: until there is one in the queue, as far as that is known.
ApiError api_error(const Error& error, double seconds_a_place) {
  constexpr double kLongest = 60;
  switch (error.kind) {
    case ErrorKind::kBusy:
      return {429, error.message, "", "queue_full", static_cast<unsigned>(std::clamp(std::ceil(seconds_a_place), 1.0, kLongest))};
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
                                                         const engine::ReplyTextOptions& text, uint32_t choices) {
  auto channel = std::make_shared<Channel<ReplyStep>>(exchange.executor(), exchange.limits().stream_buffer_bytes);
  const auto open = std::make_shared<uint32_t>(choices);
  std::vector<std::shared_ptr<engine::ReplySink>> sinks;
  for (uint32_t choice = 0; choice < choices; ++choice) {
    auto reply_text = engine::ReplyText::create(model.assets, text);
    if (!reply_text) return std::unexpected(api_error(reply_text.error(), 0));
    sinks.push_back(std::make_shared<ChannelSink>(choice, *std::move(reply_text), channel, open));
  }
  std::unique_ptr<Generation> generation(new Generation(*model.engine, channel));
  auto id = model.engine->submit(std::move(request), std::move(sinks));
  if (!id) {
    generation->channel_ = nullptr;
    return std::unexpected(api_error(id.error(), model.engine->seconds_a_place()));
  }
  generation->id_ = *id;
  exchange.set_request_id(static_cast<uint64_t>(*id));
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

RequestDefaults request_defaults(const LoadedModel& model) {
  return {model.served_name, model.engine->generation(), model.engine->config().vocab, model.max_seqs, model.engine->draft_limit()};
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
