// Trials whose times are a function of the profile; a start's noise is on all of them.
#pragma once

#include <functional>

#include "workbench/tune/double_for_tests.h"

namespace teapot::workbench {

class FormulaTrials : public Trials {
 public:
  using Formula = std::function<std::vector<TurnFigures>(const KnobProfile&)>;  // of each load
  FormulaTrials(double sd, uint64_t seed, Formula formula) : sd_(sd), noise_(seed), formula_(std::move(formula)) {}

  Result<Validation> validate(const KnobProfile&) override {
    Validation found;
    found.version = "1";
    found.replies = {"a"};
    return found;
  }
  Result<PairOutcome> pair(const PairRequest& request) override {
    PairOutcome outcome;
    for (Arm* arm : {&outcome.a, &outcome.b}) {
      const double noise = std::exp(sd_ * noise_.next());
      arm->loads = formula_(arm == &outcome.a ? request.a : request.b);
      for (TurnFigures& load : arm->loads) load.tpot_ms *= noise, load.ttft_ms *= noise;
    }
    return outcome;
  }
  double elapsed_s() const override { return 0; }
  bool over() const override { return false; }

 private:
  double sd_;
  NormalNumbers noise_;
  Formula formula_;
};

}  // namespace teapot::workbench
