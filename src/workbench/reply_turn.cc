#include "workbench/reply_turn.h"

#include <chrono>
#include <memory>

#include "engine/collecting_sink.h"
#include "engine/philox.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kLuck = 20261130;  // seed of forced acceptance

// Keeps a reply's tokens with their times.
class TimedSink : public engine::CollectingSink {
 public:
  TimedSink() {
    during_token = [this](size_t) {
      times.push_back(Clock::now());
      return true;
    };
  }

  std::vector<Clock::time_point> times;
};

double mean_tpot_ms(const std::vector<std::shared_ptr<TimedSink>>& sinks) {
  double sum = 0;
  size_t replies = 0;
  for (const auto& sink : sinks) {
    if (sink->times.size() < 2) continue;
    const std::chrono::duration<double, std::milli> ms = sink->times.back() - sink->times.front();
    sum += ms.count() / static_cast<double>(sink->times.size() - 1);
    ++replies;
  }
  return replies == 0 ? 0 : sum / static_cast<double>(replies);
}

}  // namespace

Status check_rates(const AcceptRates& rates) {
  for (const auto& list : rates) {
    if (list.empty()) return fail(ErrorKind::kInvalid, "a list of acceptance rates without a rate");
    for (const double rate : list) {
      if (!(rate >= 0 && rate <= 1)) return fail(ErrorKind::kInvalid, "an acceptance rate of {}; expected 0 to 1", rate);
    }
  }
  return {};
}

void ForcedDrafts::install(engine::EngineOptions& options) {
  if (rates_.empty()) return;
  options.scheduler.replace_draft = [this](const engine::Draft& draft) { return replace(draft); };
}

int32_t ForcedDrafts::replace(const engine::Draft& draft) {
  const std::lock_guard lock(mutex_);
  const auto reply = replies_.find(draft.request);
  if (reply == replies_.end()) return draft.id;
  const auto& [sequence, prompt_tokens, ids] = reply->second;
  const size_t at = draft.position - prompt_tokens;
  if (at >= ids.size()) return draft.id;
  const std::vector<double>& rates = rates_[std::min(rates_.size() - 1, rates_.size() * at / gen_)];
  const bool holds = engine::uniform(kLuck, draft.position, sequence) < rates[std::min<size_t>(draft.index, rates.size() - 1)];
  const int32_t right = ids[at];
  return holds ? right : right == 0 ? 1 : right - 1;
}

void ForcedDrafts::forget() {
  const std::lock_guard lock(mutex_);
  replies_.clear();
}

Result<ReplyTurn> run_turn(engine::Engine& engine, std::vector<engine::GenerateRequest> requests, ForcedDrafts& forced,
                           const std::vector<std::vector<int32_t>>& truth) {
  std::vector<std::shared_ptr<TimedSink>> sinks;
  for (size_t i = 0; i < requests.size(); ++i) {
    sinks.push_back(std::make_shared<TimedSink>());
    const size_t tokens = requests[i].prompt.size();
    const auto submit = [&] { return engine.submit(std::move(requests[i]), {sinks.back()}); };
    TEAPOT_CHECK(forced.add(static_cast<uint32_t>(i), tokens, truth[i], submit));
  }
  ReplyTurn turn;
  for (const auto& sink : sinks) {
    if (const engine::Finish& finish = sink->wait(); finish.error) return std::unexpected(*finish.error);
    turn.ids.push_back(sink->ids());
  }
  forced.forget();
  turn.tpot_ms = mean_tpot_ms(sinks);
  return turn;
}

}  // namespace teapot::workbench
