// The figures of GET /metrics: what the engine tells is counted as it happens, what it knows is asked when somebody looks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "engine/observer.h"
#include "server/figures.h"

namespace teapot::server {

class Metrics : public engine::EngineObserver {
 public:
  // model: the label model_name of every figure.
  explicit Metrics(const std::string& model);

  // In Prometheus' text format (kMetricsType). loaded: 0 to 1; now: nothing before the model is loaded. Any thread.
  std::string text(double loaded, const std::optional<EngineFigures>& now) const;

  void on_step(const engine::StepRecord& step) override;
  void on_prompt(const engine::PromptRecord& prompt) override;
  void on_token(double since_last_ms) override;
  void on_reply(const engine::ReplyRecord& reply) override;
  void on_stall(double seconds) override;

 private:
  enum class StepKind : uint8_t { kDecode, kMixed, kPrefill, kVerify, kCount };
  static constexpr size_t kStepKinds = static_cast<size_t>(StepKind::kCount), kRowBuckets = 33;  // powers of two

  static StepKind kind_of(const engine::StepRecord& step);
  static const char* name(StepKind kind);
  void on_drafts(const engine::DraftRecord& drafts);
  void observe(Distribution distribution, double value) { distributions_[static_cast<size_t>(distribution)]->Observe(value); }
  prometheus::Family<prometheus::Histogram>& family(Distribution distribution);
  prometheus::Family<prometheus::Counter>& family(Event event);

  const prometheus::Labels labels_;
  prometheus::Registry registry_;
  std::unordered_map<std::string, const FigureName*> names_;                                          // of the registry's families
  std::array<prometheus::Histogram*, static_cast<size_t>(Distribution::kCount)> distributions_ = {};  // none for kStep, which has labels
  prometheus::Family<prometheus::Histogram>& steps_;
  std::array<std::array<prometheus::Histogram*, kRowBuckets>, kStepKinds> step_ = {};  // reply thread; made when the first such step comes
  std::array<prometheus::Counter*, 4> finished_ = {};                                  // by FinishReason
  prometheus::Counter* stalled_;
  prometheus::Counter *rounds_, *drafted_, *accepted_, *saved_, *lost_;
  std::array<prometheus::Counter*, engine::kMaxDrafts> drafted_at_ = {}, accepted_at_ = {};
  std::array<prometheus::Counter*, engine::kMaxDrafts + 1> depth_ = {};
};

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// How a choice ended, as vLLM calls it: "stop", "length", "abort", "error".
const char* finish_label(engine::FinishReason reason);

}  // namespace teapot::server
