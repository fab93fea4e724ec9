// A server's time as a formula of its settings, for tests of searches: the catalogue is tests/data/tune/double.yaml. What it has of the
// real world: effects that need each other (drafts and graph sizes, static kernels and the full graph), settings that do nothing, that
// break the start, the text or the server under load, and noise of each start and of each request.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <sstream>
#include <string>

#include "engine/philox.h"
#include "workbench/tune/step_values.h"
#include "workbench/tune/trials.h"

namespace teapot::workbench {

class NormalNumbers {
 public:
  explicit NormalNumbers(uint64_t seed) : seed_(seed) {}
  double next() {
    const double radius = std::sqrt(-2 * std::log(1 - engine::uniform(seed_, at_, 0)));
    return radius * std::cos(2 * std::numbers::pi * engine::uniform(seed_, at_++, 1));
  }

 private:
  uint64_t seed_, at_ = 0;
};

// TPOT of the double in ms without noise; profile: resolved.
class DoubleFormula {
 public:
  DoubleFormula(const Catalogue& catalogue, const KnobProfile& profile) : catalogue_(catalogue), profile_(profile) {}

  double tpot_ms(uint32_t users) const { return step_ms(users) / tokens_a_step(); }
  double ttft_ms() const { return 56 + step_ms(1); }
  bool eager(uint32_t users) const { return graph_size(users) == 0; }
  bool static_active() const { return is("static_kernel", "on") && is("graph", "full"); }
  bool is(const char* knob, const char* value) const { return value_in(catalogue_, profile_, knob) == value; }
  double number(const char* knob) const { return std::stod(value_in(catalogue_, profile_, knob).value_or("0")); }
  double accepted() const { return tokens_a_step() - 1; }  // a step

 private:
  static constexpr double kAccept = 0.62;

  double tokens_a_step() const { return (1 - std::pow(kAccept, number("spec_k") + 1)) / (1 - kAccept); }

  // Of captured sizes the least that fits; 0: none.
  uint32_t graph_size(uint32_t users) const {
    const auto rows = static_cast<uint32_t>(number("spec_k")) + 1;
    if (is("graph", "off")) return 0;
    uint32_t best = 0;
    std::istringstream sizes(*value_in(catalogue_, profile_, "graph_sizes"));
    for (std::string size; std::getline(sizes, size, ',');) {
      const auto tokens = static_cast<uint32_t>(std::stoul(size));
      if (tokens >= users * rows && tokens % rows == 0 && (best == 0 || tokens < best)) best = tokens;
    }
    return best;
  }

  double step_ms(uint32_t users) const {
    const uint32_t size = graph_size(users);
    const double k = number("spec_k"), threads = number("threads");
    const double launch = size == 0 ? 12 : is("graph", "piecewise") ? 3 : static_active() ? 0.5 : 1.2;
    double work = 6 * (1 + 0.06 * std::pow(std::log2(threads / 8), 2)) + 0.12 * (size == 0 ? users * (k + 1) : size);
    if (is("bind", "core")) work *= threads <= 8 ? 0.93 : 1.1;
    if (is("kv_type", "q8")) work *= 0.96;
    if (is("prefetch", "shared")) work *= 0.995;
    double comm = is("comm", "aiv") ? 0.5 : 1.1;
    if (is("deterministic", "1")) comm *= is("comm", "aiv") ? 2 : 1.1;
    const double host = is("alloc", "pool") ? 0.3 + 0.02 * users : 0.4 + 0.05 * users;
    return launch + work + comm + host + 0.35 * k;
  }

  const Catalogue& catalogue_;
  const KnobProfile& profile_;
};

class DoubleTrials : public Trials {
 public:
  struct World {
    double start_sd = 0.01, request_sd = 0.01, drift = 0.002;  // relative; drift a start
    uint32_t requests_per_user = 2;
    double long_draft_ttft_ms = 0;     // for each draft beyond three
    bool nothing_matters = false;      // every setting takes the same time, none breaks
    uint32_t stop_after = UINT32_MAX;  // questions; then nobody answers any more
    uint32_t failing_starts = 0;       // so many of the first looks fail
    TrialFault mem_fault = TrialFault::kCrash;
    bool unsteady_replies = false;        // under load, A's own differ from start to start
    std::string other_replies_with = {};  // a knob: in force, it changes what is written under load, and only there
  };
  DoubleTrials(const Catalogue& catalogue, std::vector<uint32_t> parallel, uint64_t seed, const World& world)
      : catalogue_(catalogue), parallel_(std::move(parallel)), world_(world), noise_(seed) {}

  Result<Validation> validate(const KnobProfile& profile) override {
    if (asked_++ >= world_.stop_after) return fail(ErrorKind::kBusy, "interrupted");
    TEAPOT_TRY(const KnobProfile resolved, resolve_values(catalogue_, profile, {}, parallel_));
    const DoubleFormula formula(catalogue_, resolved);
    Validation found;
    ++looks_;
    if (looks_ <= world_.failing_starts) {
      found.fault = TrialFault::kStart;
      found.what = "not yet";
      return found;
    }
    found.version = "double 1.0";
    found.start_s = 1;
    elapsed_s_ += 2;
    if (!world_.nothing_matters) {
      if (formula.is("prefetch", "all")) found.fault = TrialFault::kHang;
      if (formula.is("queue", "2") && formula.is("graph", "full")) found.fault = TrialFault::kStart;
      if (formula.is("mem", "0.97")) found.fault = world_.mem_fault;
      if (found.fault != TrialFault::kNone) found.what = "as the formula says";
    }
    found.replies = {text_of(formula)};
    for (const auto& [knob, value] : resolved) {
      Evidence& evidence = found.evidence.emplace_back();
      evidence.knob = knob;
      const Knob& known = *catalogue_.find(knob);
      if (known.check == CheckKind::kHttp) evidence.seen = Seen::kYes;
      if (knob == "static_kernel" && !formula.static_active()) evidence.seen = Seen::kNo;
    }
    return found;
  }

  Result<PairOutcome> pair(const PairRequest& request) override {
    if (asked_++ >= world_.stop_after) return fail(ErrorKind::kBusy, "interrupted");
    PairOutcome outcome;
    for (const bool b : {request.b_first, !request.b_first}) {
      TEAPOT_TRY(Arm arm, measure(b ? request.b : request.a));
      (b ? outcome.b : outcome.a) = std::move(arm);
    }
    return outcome;
  }

  double elapsed_s() const override { return elapsed_s_; }
  bool over() const override { return asked_ > world_.stop_after; }
  uint32_t looks() const { return looks_; }  // starts to look at a profile

 private:
  std::string text_of(const DoubleFormula& formula) const {
    return formula.is("kv_type", "q8") && !world_.nothing_matters ? "river stone" : "tree light";
  }

  Result<Arm> measure(const KnobProfile& profile) {
    TEAPOT_TRY(const KnobProfile resolved, resolve_values(catalogue_, profile, {}, parallel_));
    const KnobProfile none;
    const DoubleFormula formula(catalogue_, world_.nothing_matters ? none : resolved);
    Arm arm;
    elapsed_s_ += 3;
    const double start = std::exp(world_.start_sd * noise_.next()) * (1 + world_.drift * starts_++);
    for (const uint32_t users : parallel_) {
      const double requests = users * world_.requests_per_user;
      TurnFigures load;
      load.requests = static_cast<uint32_t>(requests);
      load.tpot_ms = formula.tpot_ms(users) * start * std::exp(world_.request_sd / std::sqrt(requests) * noise_.next());
      const double ttft_ms = formula.ttft_ms() + world_.long_draft_ttft_ms * std::max(0.0, formula.number("spec_k") - 3);
      load.ttft_ms = ttft_ms * start * std::exp(world_.request_sd / std::sqrt(requests) * noise_.next());
      load.drafted = static_cast<uint64_t>(1000 * formula.number("spec_k"));
      load.accepted = static_cast<uint64_t>(1000 * formula.accepted());
      arm.loads.push_back(load);
    }
    arm.probe_ms = arm.loads.front().tpot_ms;
    arm.hash = text_of(formula);
    if (!world_.other_replies_with.empty() && resolved.contains(world_.other_replies_with)) arm.hash += " and more";
    if (world_.unsteady_replies) arm.hash += fmt::format(" {}", starts_);
    return arm;
  }

  const Catalogue& catalogue_;
  std::vector<uint32_t> parallel_;
  World world_;
  NormalNumbers noise_;
  uint32_t starts_ = 0, asked_ = 0, looks_ = 0;
  double elapsed_s_ = 0;
};

// Geometric mean of TPOT over the numbers of users, without noise.
inline double double_truth_ms(const Catalogue& catalogue, const KnobProfile& profile, const std::vector<uint32_t>& parallel) {
  const auto resolved = resolve_values(catalogue, profile, {}, parallel);
  const DoubleFormula formula(catalogue, *resolved);
  double sum = 0;
  for (const uint32_t users : parallel) sum += std::log(formula.tpot_ms(users));
  return std::exp(sum / static_cast<double>(parallel.size()));
}

}  // namespace teapot::workbench
