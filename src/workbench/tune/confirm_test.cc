#include "workbench/tune/confirm.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue_for_tests.h"
#include "workbench/tune/formula_trials_for_tests.h"

namespace teapot::workbench {
namespace {

// Two moves that were adopted, a and then b, under loads of one and of eight users.
SearchResult confirmed(const FormulaTrials::Formula& formula) {
  std::string text = catalogue_head();
  for (const char* name : {"a", "b"}) text += knob_yaml(name, "flag: --" + std::string(name), "int", "[0, 1]");
  const auto catalogue = parse_catalogue(text, "two");
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  SearchOptions options;
  options.budget.pairs = 200;
  options.parallel = {1, 8};
  FormulaTrials trials(0.005, 1, formula);
  SearchResult result;
  const SearchEvents events;
  PairMeter meter(options, trials, events, result);
  meter.set_reserve(0);
  const KnobProfile one = {{"a", "1"}}, both = {{"a", "1"}, {"b", "1"}};
  const std::vector<Adopted> adopted = {{.knob = "a", .value = "1", .with = {}, .before = {}, .after = one},
                                        {.knob = "b", .value = "1", .with = {}, .before = one, .after = both}};
  EXPECT_TRUE(confirm(*catalogue, options, meter, adopted, both, result));
  result.end = SearchEnd::kDone;
  return result;
}

std::vector<TurnFigures> loads(double one_ms, double eight_ms, double ttft_ms) {
  return {{.tpot_ms = one_ms, .ttft_ms = ttft_ms}, {.tpot_ms = eight_ms, .ttft_ms = ttft_ms}};
}

TEST(Confirmation, SaysWhatChangesForEachNumberOfUsersAndForTheFirstToken) {
  const SearchResult result = confirmed([](const KnobProfile& profile) {
    const double moves = static_cast<double>(profile.size());
    return loads(10 * std::exp(-0.05 * moves), 20 * std::exp(-0.1 * moves), 50 * std::exp(0.01 * moves));
  });
  ASSERT_NE(result.confirmed(), nullptr);
  const Confirmation& found = *result.confirmed();
  EXPECT_EQ(found.moves, 2u);
  ASSERT_EQ(found.loads.size(), 2u);
  EXPECT_NEAR(found.loads[0].mean, -0.1, 2 * found.loads[0].half_width);
  EXPECT_NEAR(found.loads[1].mean, -0.2, 2 * found.loads[1].half_width);
  EXPECT_NEAR(found.ttft.mean, 0.02, 2 * found.ttft.half_width);
  EXPECT_TRUE(result.warnings.empty());
}

// Each race's guard had room for a little harm; together it is too much.
TEST(Confirmation, AHarmIsNoneToConfirm) {
  const SearchResult slow_with_eight = confirmed([](const KnobProfile& profile) {
    return loads(profile.contains("b") ? 7 : profile.contains("a") ? 8 : 10, profile.contains("b") ? 20.8 : 20, 50);
  });
  ASSERT_EQ(slow_with_eight.confirmations.size(), 2u);
  EXPECT_NE(slow_with_eight.confirmations[0].harm.find("TPOT with 8 users"), std::string::npos) << slow_with_eight.confirmations[0].harm;
  ASSERT_EQ(slow_with_eight.warnings.size(), 1u);
  ASSERT_NE(slow_with_eight.confirmed(), nullptr);
  EXPECT_EQ(slow_with_eight.confirmed()->moves, 1u) << "the bisection goes on";

  const SearchResult late =
      confirmed([](const KnobProfile& profile) { return loads(profile.empty() ? 10 : 8, 20, profile.empty() ? 50 : 60); });
  EXPECT_EQ(late.confirmed(), nullptr);
  EXPECT_NE(late.warnings.at(0).find("--max-ttft-harm"), std::string::npos) << late.warnings[0];
}

}  // namespace
}  // namespace teapot::workbench
