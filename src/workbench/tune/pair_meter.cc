#include "workbench/tune/pair_meter.h"

#include <algorithm>
#include <cmath>

#include "workbench/pairs/e_process.h"
#include "workbench/pairs/pair_order.h"
#include "workbench/tune/walk.h"

namespace teapot::workbench {
namespace {

constexpr uint32_t kPairsPerNullPair = 20;
constexpr int kAttempts = 3;  // at a pair whose A fails

// Sets of prompts that only the confirmation sees.
constexpr uint32_t kConfirmPrompts = 1u << 20;

uint64_t mix(uint64_t seed, uint64_t number) { return (seed + 1) * 0x9e3779b97f4a7c15 + number * 0xd1b54a32d192ed03; }

}  // namespace

double difference_of(Objective objective, const PairOutcome& outcome) { return Walk(objective, outcome.a.loads.size()).add(outcome); }

uint32_t PairMeter::left() const {
  uint32_t total = options_.budget.pairs;
  if (options_.budget.seconds > 0) {
    const double left_s = std::max(0.0, options_.budget.seconds - trials_.elapsed_s());
    const double pair_s = result_.pairs == 0 ? 1 : trials_.elapsed_s() / result_.pairs;
    total = result_.pairs + static_cast<uint32_t>(std::min(1e6, left_s / std::max(pair_s, 1e-6)));
  }
  result_.budget_pairs = total;
  const uint32_t taken = result_.pairs + reserve_;
  return total > taken ? total - taken : 0;
}

std::unexpected<Error> PairMeter::end(SearchEnd how, std::string reason) {
  ended_ = true;
  result_.end = how;
  result_.end_reason = std::move(reason);
  return fail(ErrorKind::kBusy, "{}", result_.end_reason);
}

void PairMeter::show(const std::string& now) const {
  result_.elapsed_s = trials_.elapsed_s();
  if (events_.progress) events_.progress(result_, now);
}

Result<PairOutcome> PairMeter::measure_once(const Series& series, bool b_first) {
  PairRequest request;
  request.kind = series.kind;
  request.a = series.a;
  request.b = series.b;
  request.b_first = b_first;
  request.prompts = series.kind == PairKind::kConfirm ? kConfirmPrompts + confirm_prompts_++ : prompts_++;
  return trials_.pair(request);
}

Result<PairOutcome> PairMeter::measure(Series& series) {
  const bool counted = series.kind != PairKind::kNull && series.kind != PairKind::kConfirm;
  if (counted && since_null_ >= kPairsPerNullPair && left() > 1) {
    TEAPOT_CHECK(null_pair());
  }
  const bool b_first = b_goes_first(mix(options_.seed, series.number), series.pair++);
  std::string fault;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    show(series.what);
    TEAPOT_TRY(PairOutcome outcome, measure_once(series, b_first));
    ++result_.pairs;
    if (series.kind == PairKind::kNull && outcome.a.fault == TrialFault::kNone && outcome.b.fault != TrialFault::kNone) {
      outcome.a.fault = outcome.b.fault, outcome.a.what = outcome.b.what;
    }
    if (outcome.a.fault == TrialFault::kNone) {
      if (outcome.b.fault == TrialFault::kNone) keep(series, outcome);
      return outcome;
    }
    fault = fmt::format("{} ({})", outcome.a.what, kTrialFaultNames[static_cast<size_t>(outcome.a.fault)]);
    result_.warnings.push_back(fmt::format("{}: the incumbent failed, the pair is measured again: {}", series.what, fault));
  }
  return end(SearchEnd::kFaults, fmt::format("the incumbent failed {} times in a row: {}", kAttempts, fault));
}

void PairMeter::keep(const Series& series, const PairOutcome& outcome) {
  if (series.kind != PairKind::kNull) ++since_null_;
  PairPoint point;
  point.kind = series.kind;
  point.what = series.what;
  point.difference = difference_of(options_.objective, outcome);
  point.elapsed_s = trials_.elapsed_s();
  point.a_tpot_ms = mean_tpot_ms(outcome.a);
  point.b_tpot_ms = mean_tpot_ms(outcome.b);
  point.probe_ms = outcome.a.probe_ms;
  point.read_gbs = outcome.read_gbs;
  point.incumbent = moves_;
  result_.points.push_back(std::move(point));
}

Status PairMeter::null_pair() {
  Series series{.kind = PairKind::kNull, .what = "A against A", .a = incumbent_, .b = incumbent_, .number = 0, .pair = null_pairs_++};
  TEAPOT_TRY(const PairOutcome outcome, measure(series));
  since_null_ = 0;
  if (result_.text_gate) {
    if (std::string why = replies_.add_null(outcome); !why.empty()) result_.warnings.push_back(std::move(why));
    result_.load_text_gate = replies_.compared();
  }
  null_differences_.push_back(difference_of(options_.objective, outcome));
  EProcess process;
  for (const double difference : null_differences_) process.add(difference);
  result_.null = PairedFigures::of(null_differences_, kNullAlpha);
  result_.null_ln_e = process.ln_e();
  if (process.ln_e() < std::log(1 / kNullAlpha)) return {};
  return end(SearchEnd::kNullDiffers,
             fmt::format("A differs from itself by {:.2f} % over {} pairs: no difference found here is a setting's",
                         change_percent(process.mean()), process.pairs()));
}

Status PairMeter::measure_null(uint32_t pairs) {
  for (uint32_t i = 0; i < pairs; ++i) {
    TEAPOT_CHECK(null_pair());
  }
  return {};
}

}  // namespace teapot::workbench
