#include "engine/sequence.h"

#include <algorithm>

namespace teapot::engine {
namespace {

// Rows of a step that all give their logits back: 32 rows of 248,320 f32 are 32 MB.
constexpr uint32_t kScoredRows = 32;

double ms_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double, std::milli>(to - from).count(); }

uint32_t room_of(const GenerateRequest& request, uint32_t context) {
  const uint64_t wanted = request.max_tokens == 0 ? context : uint64_t{request.prompt.size()} + request.max_tokens;
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, context));
}

}  // namespace

Result<std::unique_ptr<Sequence>> Sequence::open(Workbench& bench, const Job& job) {
  // The last token of a reply is never read back: one position less would do, but the limit that is printed is the one that is kept.
  TEAPOT_TRY(const plan::SlotId slot, bench.backend.open_slot(room_of(job.request, bench.context)));
  return std::unique_ptr<Sequence>(new Sequence(bench, job, slot));
}

Sequence::Sequence(Workbench& bench, const Job& job, plan::SlotId slot)
    : bench_(bench),
      request_(job.request),
      sink_(*job.sink),
      slot_(slot),
      sampler_(job.request, bench.vocabulary),
      room_(room_of(job.request, bench.context)),
      first_step_(Clock::now()) {
  timings_.queue_ms = ms_between(job.submitted, first_step_);
  timings_.prompt_tokens = static_cast<uint32_t>(request_.prompt.size());
}

Sequence::~Sequence() { bench_.backend.close_slot(slot_); }

Result<std::optional<FinishReason>> Sequence::step() { return committed_ < request_.prompt.size() ? prefill() : decode(); }

// The packet's tokens are set by the caller; the last row gives its logits back if each_row does not say more.
Status Sequence::run(plan::StepKind kind, uint32_t rows, plan::RowReturn each_row) {
  TEAPOT_TRY(const plan::PlanId plan, bench_.plans.get({.kind = kind, .sequences = 1, .rows = rows}));
  bench_.packet.sequences.assign(1, {.slot = slot_, .first_row = 0, .rows = rows, .position = committed_});
  bench_.packet.returns.assign(rows, each_row);
  if (committed_ + rows >= request_.prompt.size()) bench_.packet.returns.back() = plan::RowReturn::kLogits;
  TEAPOT_CHECK(bench_.backend.run(plan, bench_.packet, bench_.result));
  committed_ += rows;
  return {};
}

Result<std::optional<FinishReason>> Sequence::prefill() {
  const auto prompt_tokens = static_cast<uint32_t>(request_.prompt.size());
  const uint32_t chunk = request_.prompt_logprobs ? std::min(bench_.prefill_chunk, kScoredRows) : bench_.prefill_chunk;
  const uint32_t rows = std::min(chunk, prompt_tokens - committed_);
  const auto begin = request_.prompt.begin() + committed_;
  bench_.packet.tokens.assign(begin, begin + rows);
  TEAPOT_CHECK(run(plan::StepKind::kPrefill, rows, request_.prompt_logprobs ? plan::RowReturn::kLogits : plan::RowReturn::kNothing));
  sink_.on_prefill(committed_, prompt_tokens);
  if (request_.prompt_logprobs) TEAPOT_CHECK(score_prompt());
  if (committed_ < prompt_tokens) return std::nullopt;
  if (request_.prompt_logprobs) sink_.on_prompt_logprobs(prompt_events_);
  return emit(bench_.result.logits.back());
}

// Row t of the step just run speaks of the prompt's token after it.
Status Sequence::score_prompt() {
  const auto rows = static_cast<uint32_t>(bench_.result.logits.size());
  for (uint32_t row = 0; row < rows; ++row) {
    const size_t next = committed_ - rows + row + 1;
    if (next == request_.prompt.size()) break;
    TEAPOT_TRY(TokenEvent event, sampler_.score(bench_.result.logits[row], request_.prompt[next]));
    prompt_events_.push_back(std::move(event));
  }
  return {};
}

Result<std::optional<FinishReason>> Sequence::decode() {
  bench_.packet.tokens.assign(1, last_);
  TEAPOT_CHECK(run(plan::StepKind::kDecode, 1, plan::RowReturn::kLogits));
  return emit(bench_.result.logits.back());
}

Result<std::optional<FinishReason>> Sequence::emit(std::span<float> logits) {
  TEAPOT_TRY(const TokenEvent event, sampler_.sample(logits, committed_));
  const auto now = Clock::now();
  if (timings_.completion_tokens == 0) first_token_ = now;
  ++timings_.completion_tokens;
  timings_.prefill_ms = ms_between(first_step_, first_token_);
  timings_.decode_ms = ms_between(first_token_, now);
  last_ = event.id;
  const bool wanted = sink_.on_token(event);
  if (event.is_stop || !wanted) return FinishReason::kStop;
  if (committed_ + 1 == room_) return FinishReason::kLength;
  return std::nullopt;
}

}  // namespace teapot::engine
