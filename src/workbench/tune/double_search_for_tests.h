// Searches over the double, and what they say.
#pragma once

#include <gtest/gtest.h>

#include "test_data.h"
#include "workbench/tune/double_for_tests.h"
#include "workbench/tune/search.h"

namespace teapot::workbench {

inline const std::vector<uint32_t> kParallel = {1, 4, 8};

inline Catalogue double_catalogue() {
  auto catalogue = load_catalogue(testing::test_data("tune/double.yaml"));
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return *std::move(catalogue);
}

inline SearchOptions with_budget(uint32_t pairs, uint64_t seed) {
  SearchOptions options;
  options.budget.pairs = pairs;
  options.parallel = kParallel;
  options.seed = seed;
  return options;
}

inline const MoveVerdict* last_verdict(const SearchResult& result, const std::string& knob, const KnobValue& value) {
  const MoveVerdict* last = nullptr;
  for (const MoveVerdict& verdict : result.verdicts) {
    if (verdict.knob == knob && verdict.value == value) last = &verdict;
  }
  return last;
}

inline std::string told(const SearchResult& result) {
  std::string text;
  for (const MoveVerdict& verdict : result.verdicts) {
    text += fmt::format("{}: {} {:+.2f} % after {} pairs ({}) {}\n", name_of(verdict.knob, verdict.value, verdict.with),
                        kMoveStateNames[static_cast<size_t>(verdict.state)], verdict.effect.percent(), verdict.effect.pairs, verdict.phase,
                        verdict.reason);
  }
  return text + fmt::format("{} pairs, {}\n", result.pairs, result.end_reason);
}

}  // namespace teapot::workbench
