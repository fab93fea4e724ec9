#include "workbench/tune/reachable.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue_for_tests.h"

namespace teapot::workbench {
namespace {

Catalogue catalogue_of(const std::string& knobs) {
  const auto catalogue = parse_catalogue(catalogue_head() + knobs, "c.yaml");
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return catalogue.value_or(Catalogue{});
}

TEST(Reachable, RequirementsThatExcludeEachOtherAreNamed) {
  const Catalogue catalogue = catalogue_of(knob_yaml("a", "flag: --a", "int", "[0, 1]", "  requires: [b = 1]\n") +
                                           knob_yaml("b", "flag: --b", "int", "[0, 1]", "  requires: [a = 0]\n") +
                                           knob_yaml("c", "flag: --c", "int", "[0, 1]", "  requires: [b = 2]\n"));
  const auto lines = unreachable_values(catalogue);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], fmt::format("line {}: a = 1: b = 1 requires a = 0", catalogue.find("a")->line));
  EXPECT_EQ(lines[1], fmt::format("line {}: c = 1: c = 1 requires b = 2", catalogue.find("c")->line));
  EXPECT_TRUE(check_defaults(catalogue, "c.yaml"));
}

TEST(Reachable, AConflictWithADefaultIsNoneBehindAnotherMove) {
  const std::string a = knob_yaml("a", "flag: --a", "int", "[0, 1]", "  conflicts: [b = x]\n");
  EXPECT_TRUE(unreachable_values(catalogue_of(a + knob_yaml("b", "flag: --b", "enum", "[x, y]"))).empty());
  EXPECT_EQ(unreachable_values(catalogue_of(a + knob_yaml("b", "flag: --b", "enum", "[x]"))).size(), 1u);
}

TEST(Reachable, DefaultsThatConflictAreAnError) {
  const Catalogue catalogue =
      catalogue_of(knob_yaml("a", "flag: --a", "int", "[1, 0]", "  conflicts: [b]\n") + knob_yaml("b", "flag: --b", "enum", "[x, y]"));
  const Status sound = check_defaults(catalogue, "c.yaml");
  ASSERT_FALSE(sound);
  EXPECT_TRUE(sound.error().message.ends_with("the defaults exclude each other: a = 1 conflicts with b")) << sound.error().message;
}

TEST(Reachable, DefaultsOfOurCataloguesAreSound) {
  for (const std::string& name : shipped_catalogues()) {
    const auto catalogue = load_catalogue(name);
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    EXPECT_TRUE(check_defaults(*catalogue, name)) << check_defaults(*catalogue, name).error().message;
  }
}

}  // namespace
}  // namespace teapot::workbench
