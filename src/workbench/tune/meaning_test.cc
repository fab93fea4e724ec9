#include "workbench/tune/meaning.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue_for_tests.h"
#include "workbench/tune/moves.h"

namespace teapot::workbench {
namespace {

Catalogue alike_catalogue() {
  const auto catalogue = parse_catalogue(
      catalogue_head() +
          knob_yaml("threads", "flag: --threads", "int", "['1', '01', '@all_cpus', 4, '@physical_cores', '@half_cores', 16]") +
          knob_yaml("sizes", "flag: --sizes", "list", "[[1, 2], '[1, 2]', [2, 1]]"),
      "alike");
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return *catalogue;
}

SearchOptions on_four_cpus() {
  SearchOptions options;
  options.host = {{"all_cpus", "4"}, {"physical_cores", "4"}, {"half_cores", "2"}};
  return options;
}

TEST(Meaning, ValuesAreWorkedOutAndDefaultsLeftOut) {
  const Catalogue catalogue = alike_catalogue();
  const HostValues host = on_four_cpus().host;
  EXPECT_EQ(meaning_of(catalogue, {{"threads", "@all_cpus"}}, host, {1}), meaning_of(catalogue, {{"threads", "4"}}, host, {1}));
  EXPECT_EQ(meaning_of(catalogue, {{"threads", "01"}}, host, {1}), KnobProfile());
  EXPECT_EQ(meaning_of(catalogue, {{"threads", "@all_cpus"}}, {}, {1}), (KnobProfile{{"threads", "@all_cpus"}}));
}

TEST(Moves, ValuesThatMeanTheSameAreOneCandidate) {
  const Catalogue catalogue = alike_catalogue();
  const SearchOptions options = on_four_cpus();
  const auto tried = [&](const char* knob, const KnobProfile& base, const KnobProfile& incumbent) {
    return values_to_try(catalogue, *catalogue.find(knob), base, incumbent, options);
  };
  EXPECT_EQ(tried("threads", {}, {}), (std::vector<KnobValue>{"@all_cpus", "@half_cores", "16"}));
  const KnobProfile all = {{"threads", "@physical_cores"}};
  EXPECT_EQ(tried("threads", all, all), (std::vector<KnobValue>{"1", "@half_cores", "16"}));
  EXPECT_EQ(tried("threads", {}, all), (std::vector<KnobValue>{"@half_cores", "16"}));
  EXPECT_EQ(tried("sizes", {}, {}), (std::vector<KnobValue>{"[2,1]"}));
}

}  // namespace
}  // namespace teapot::workbench
