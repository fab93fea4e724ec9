// Every figure of GET /metrics, defined once: its names, what it is, where it comes from. Where vLLM has a figure of the same meaning, ours
// stands under vLLM's name too, so that its dashboards work.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace teapot::server {

struct FigureName {
  std::string_view own;  // "teapot_…"
  std::string_view help;
  std::array<std::string_view, 2> vllm = {};  // "vllm:…"; empty: none
};

// What the engine is at one moment.
struct EngineFigures {
  engine::Engine::Load load = {};
  engine::EngineStatus status = {};
};

// Read from the engine when somebody asks.
struct ReadFigure {
  FigureName name;
  bool counter;  // only rises; else a gauge
  double (*value)(const EngineFigures&);
};
std::span<const ReadFigure> read_figures();

// Told by the engine as it happens, value by value.
enum class Distribution : uint8_t {
  kTimeToFirstToken,
  kInterToken,
  kPerOutputToken,
  kEndToEnd,
  kQueue,
  kPrefill,
  kDecode,
  kPromptTokens,
  kReplyTokens,
  kStep,
  kStepHost,
  kStepGap,
  kStepWaitShare,
  kDraft,
  kCatchUp,
  kReplay,
  kSample,
  kCount
};
struct DistributionFigure {
  FigureName name;
  std::vector<double> bounds;  // of its buckets
};
const DistributionFigure& figure(Distribution distribution);

// Told by the engine as it happens, to be counted.
enum class Event : uint8_t { kFinished, kStalled, kRounds, kDrafted, kAccepted, kDraftedAt, kAcceptedAt, kDepth, kSaved, kLost, kCount };
const FigureName& figure(Event event);

// What is known while the model loads.
extern const FigureName kLoadedFigure;

}  // namespace teapot::server
