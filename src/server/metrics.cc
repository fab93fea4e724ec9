#include "server/metrics.h"

#include <bit>
#include <cmath>
#include <sstream>

#include <prometheus/text_serializer.h>

namespace teapot::server {
namespace {

using engine::FinishReason;

constexpr FinishReason kReasons[] = {FinishReason::kStop, FinishReason::kLength, FinishReason::kCancelled, FinishReason::kError};

double seconds(double ms) { return ms / 1000; }

// The family under its own name and under vLLM's.
void add_with_aliases(std::vector<prometheus::MetricFamily>& families, prometheus::MetricFamily family, const FigureName& name) {
  for (const std::string_view alias : name.vllm) {
    if (alias.empty()) continue;
    families.push_back(family);
    families.back().name = alias;
  }
  families.push_back(std::move(family));
}

}  // namespace

const char* finish_label(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "abort";
    case FinishReason::kError:
      return "error";
  }
  return "";
}

prometheus::Family<prometheus::Histogram>& Metrics::family(Distribution distribution) {
  const FigureName& name = figure(distribution).name;
  names_.emplace(name.own, &name);
  return prometheus::BuildHistogram().Name(std::string(name.own)).Help(std::string(name.help)).Labels(labels_).Register(registry_);
}

prometheus::Family<prometheus::Counter>& Metrics::family(Event event) {
  const FigureName& name = figure(event);
  names_.emplace(name.own, &name);
  return prometheus::BuildCounter().Name(std::string(name.own)).Help(std::string(name.help)).Labels(labels_).Register(registry_);
}

Metrics::Metrics(const std::string& model)
    : labels_{{"model_name", model}},
      steps_(family(Distribution::kStep)),
      stalled_(&family(Event::kStalled).Add({})),
      rounds_(&family(Event::kRounds).Add({})),
      drafted_(&family(Event::kDrafted).Add({})),
      accepted_(&family(Event::kAccepted).Add({})),
      saved_(&family(Event::kSaved).Add({})),
      lost_(&family(Event::kLost).Add({})) {
  for (size_t i = 0; i < distributions_.size(); ++i) {
    const auto distribution = static_cast<Distribution>(i);
    if (distribution != Distribution::kStep) distributions_[i] = &family(distribution).Add({}, figure(distribution).bounds);
  }
  auto& finished = family(Event::kFinished);
  for (const FinishReason reason : kReasons)
    finished_[static_cast<size_t>(reason)] = &finished.Add({{"finished_reason", finish_label(reason)}});
  auto &drafted = family(Event::kDraftedAt), &accepted = family(Event::kAcceptedAt), &depth = family(Event::kDepth);
  for (size_t i = 0; i < drafted_at_.size(); ++i) {
    drafted_at_[i] = &drafted.Add({{"position", std::to_string(i)}});
    accepted_at_[i] = &accepted.Add({{"position", std::to_string(i)}});
  }
  for (size_t i = 0; i < depth_.size(); ++i) depth_[i] = &depth.Add({{"depth", std::to_string(i)}});
}

Metrics::StepKind Metrics::kind_of(const engine::StepRecord& step) {
  if (step.prefill_rows > 0) return step.decode_rows == 0 ? StepKind::kPrefill : StepKind::kMixed;
  return step.verify ? StepKind::kVerify : StepKind::kDecode;
}

const char* Metrics::name(StepKind kind) {
  constexpr std::array<const char*, kStepKinds> kNames = {"decode", "mixed", "prefill", "verify"};
  return kNames[static_cast<size_t>(kind)];
}

void Metrics::on_step(const engine::StepRecord& step) {
  const StepKind kind = kind_of(step);
  const uint32_t rows = step.decode_rows + step.prefill_rows;
  const auto bucket = static_cast<size_t>(rows <= 1 ? 0 : std::bit_width(rows - 1));
  prometheus::Histogram*& histogram = step_[static_cast<size_t>(kind)][bucket];
  if (histogram == nullptr)
    histogram = &steps_.Add({{"kind", name(kind)}, {"rows", std::to_string(uint64_t{1} << bucket)}}, figure(Distribution::kStep).bounds);
  histogram->Observe(seconds(step.ms));
  if (step.gap_us > 0) {
    observe(Distribution::kStepHost, step.host_us / 1e6);
    observe(Distribution::kStepGap, step.gap_us / 1e6);
  }
  observe(Distribution::kStepWaitShare, step.wait_share);
  if (step.replay_ms > 0) observe(Distribution::kReplay, seconds(step.replay_ms));
  observe(Distribution::kSample, seconds(step.sample_ms));
  on_drafts(step.drafts);
}

void Metrics::on_drafts(const engine::DraftRecord& drafts) {
  for (size_t i = 0; i < depth_.size(); ++i) {
    if (drafts.depths[i] > 0) depth_[i]->Increment(drafts.depths[i]);
  }
  if (drafts.catch_up_ms > 0) observe(Distribution::kCatchUp, seconds(drafts.catch_up_ms));
  if (drafts.draft_steps == 0) return;
  observe(Distribution::kDraft, seconds(drafts.draft_ms));
  rounds_->Increment(static_cast<double>(drafts.drafts.rounds));
  for (size_t i = 0; i < drafted_at_.size(); ++i) {
    const auto made = static_cast<double>(drafts.drafts.drafted[i]), held = static_cast<double>(drafts.drafts.accepted[i]);
    drafted_->Increment(made);
    drafted_at_[i]->Increment(made);
    accepted_->Increment(held);
    accepted_at_[i]->Increment(held);
  }
  (drafts.saved_ms >= 0 ? saved_ : lost_)->Increment(seconds(std::abs(drafts.saved_ms)));
}

void Metrics::on_prompt(const engine::PromptRecord& prompt) { observe(Distribution::kPromptTokens, prompt.tokens); }

void Metrics::on_token(double since_last_ms) { observe(Distribution::kInterToken, seconds(since_last_ms)); }

void Metrics::on_reply(const engine::ReplyRecord& reply) {
  finished_[static_cast<size_t>(reply.reason)]->Increment();
  const engine::Timings& timings = reply.timings;
  if (timings.completion_tokens == 0) return;  // it ended before its times began
  observe(Distribution::kQueue, seconds(timings.queue_ms));
  observe(Distribution::kPrefill, seconds(timings.prefill_ms));
  observe(Distribution::kDecode, seconds(timings.decode_ms));
  observe(Distribution::kTimeToFirstToken, seconds(timings.ttft_ms()));
  observe(Distribution::kEndToEnd, seconds(timings.ttft_ms() + timings.decode_ms));
  observe(Distribution::kReplyTokens, timings.completion_tokens);
  if (timings.completion_tokens > 1) observe(Distribution::kPerOutputToken, seconds(timings.tpot_ms()));
}

void Metrics::on_stall(double) { stalled_->Increment(); }

std::string Metrics::text(double loaded, const std::optional<EngineFigures>& now) const {
  std::vector<prometheus::MetricFamily> families;
  const auto add_value = [&](const FigureName& name, prometheus::MetricType type, double value) {
    prometheus::ClientMetric metric;
    for (const auto& [label, text] : labels_) metric.label.push_back({label, text});
    (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    add_with_aliases(families, {std::string(name.own), std::string(name.help), type, {std::move(metric)}}, name);
  };
  add_value(kLoadedFigure, prometheus::MetricType::Gauge, loaded);
  if (now) {
    for (const ReadFigure& read : read_figures())
      add_value(read.name, read.counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge, read.value(*now));
    for (prometheus::MetricFamily& family : registry_.Collect()) {
      const FigureName& name = *names_.at(family.name);
      if (!family.metric.empty()) add_with_aliases(families, std::move(family), name);
    }
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace teapot::server
