#include "workbench/tune/walk.h"

#include <algorithm>
#include <cmath>

namespace teapot::workbench {
namespace {

Truth below(const EProcess& process, double limit) {
  const double half = process.half_width(kSequenceAlpha);
  if (process.mean() + half <= limit) return Truth::kTrue;
  return process.mean() - half > limit ? Truth::kFalse : Truth::kUnknown;
}

double upper(const EProcess& process) { return process.mean() + process.half_width(kSequenceAlpha); }

}  // namespace

double log_ratio(const Arm& a, const Arm& b, double TurnFigures::* time) {
  double sum = 0;
  for (size_t i = 0; i < a.loads.size(); ++i) sum += std::log(b.loads[i].*time / a.loads[i].*time);
  return sum / static_cast<double>(a.loads.size());
}

double mean_tpot_ms(const Arm& arm) {
  double sum = 0;
  for (const TurnFigures& load : arm.loads) sum += std::log(load.tpot_ms);
  return std::exp(sum / static_cast<double>(arm.loads.size()));
}

double Walk::add(const PairOutcome& outcome) {
  const double tpot = log_ratio(outcome.a, outcome.b, &TurnFigures::tpot_ms);
  const double ttft = log_ratio(outcome.a, outcome.b, &TurnFigures::ttft_ms);
  for (size_t i = 0; i < tpot_.size(); ++i) tpot_[i].add(std::log(outcome.b.loads[i].tpot_ms / outcome.a.loads[i].tpot_ms));
  ttft_.add(ttft);
  for (const auto& [arm, drafts] : {std::pair{&outcome.a, &a_}, {&outcome.b, &b_}}) {
    for (const TurnFigures& load : arm->loads) {
      drafts->drafted += static_cast<double>(load.drafted);
      drafts->accepted += static_cast<double>(load.accepted);
    }
  }
  const double difference = objective_ == Objective::kTpot ? tpot : objective_ == Objective::kTtft ? ttft : (tpot + ttft) / 2;
  total_.add(difference);
  differences_.push_back(difference);
  return difference;
}

Effect Walk::effect() const {
  Effect effect;
  effect.pairs = total_.pairs();
  effect.mean = total_.mean();
  effect.half_width = total_.half_width(kSequenceAlpha);
  effect.ln_e = total_.ln_e();
  effect.lag1 = PairedFigures::of(differences_, kSequenceAlpha).lag1;
  for (const EProcess& load : tpot_) effect.loads.push_back(load.mean());
  effect.ttft = ttft_.mean();
  return effect;
}

Truth Walk::no_load_slower(double limit, const Effect* before) const {
  Truth all = Truth::kTrue;
  for (size_t i = 0; i < tpot_.size(); ++i) {
    const Truth one = below(tpot_[i], std::log1p(limit) - (before == nullptr ? 0 : before->loads[i]));
    if (one == Truth::kFalse) return Truth::kFalse;
    if (one == Truth::kUnknown) all = Truth::kUnknown;
  }
  return all;
}

bool Walk::no_load_looks_slower(const Effect* before) const {
  for (size_t i = 0; i < tpot_.size(); ++i) {
    if (tpot_[i].mean() + (before == nullptr ? 0 : before->loads[i]) > 0) return false;
  }
  return true;
}

Truth Walk::ttft_not_slower(double limit, const Effect* before) const {
  const double room = std::log1p(limit) - (before == nullptr ? 0 : before->ttft);
  return ttft_.mean() <= room / 2 ? Truth::kTrue : below(ttft_, room);
}

bool Walk::acceptance_kept() const {
  // Tokens of one draft are not independent: twice the two standard errors that would do for coins.
  constexpr double kErrors = 4;
  if (a_.drafted <= 0 || b_.drafted <= 0) return true;
  const auto parts = [](const Drafts& drafts) { return std::pair{drafts.accepted + 0.5, drafts.drafted - drafts.accepted + 0.5}; };
  const auto [a_right, a_wrong] = parts(a_);
  const auto [b_right, b_wrong] = parts(b_);
  const double change = std::log(b_right / b_wrong) - std::log(a_right / a_wrong);
  return change >= -kErrors * std::sqrt(1 / a_right + 1 / a_wrong + 1 / b_right + 1 / b_wrong);
}

size_t Walk::slowest_load() const { return static_cast<size_t>(std::ranges::max_element(tpot_, {}, upper) - tpot_.begin()); }

}  // namespace teapot::workbench
