#include "workbench/tune/joint_move.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue_for_tests.h"

namespace teapot::workbench {
namespace {

// The interactions of experiments.md, section 4, in small: drafts with sizes, a kernel with a mode, two binders.
Catalogue knobs() {
  const auto catalogue = parse_catalogue(
      catalogue_head() + knob_yaml("k", "flag: --k", "int", "[0, 1, 2, 3]", "  requires: [sizes]\n", "speculation") +
          knob_yaml("sizes", "flag: --sizes", "string", "[\"1,2\", \"@exact_step_tokens\"]", "  requires: [k]\n") +
          knob_yaml("mode", "flag: --mode", "enum", "[piece, \"off\", full]") +
          knob_yaml("kernel", "flag: --kernel, style: switch", "switch", "[false, true]", "  requires: [mode = full, a GPU]\n") +
          knob_yaml("extra", "flag: --extra, style: switch", "switch", "[false, true]", "  requires: [kernel]\n") +
          knob_yaml("bind", "flag: --bind", "enum", "[\"off\", core]", "  conflicts: [threads = 16]\n") +
          knob_yaml("threads", "flag: --threads", "int", "[4, 8, 16]") + knob_yaml("spec_a", "flag: --spec", "string", "[null, a]") +
          knob_yaml("spec_b", "flag: --spec", "string", "[null, b]") +
          knob_yaml("ring_a", "flag: --ra", "enum", "[\"off\", x, y]", "  requires: [ring_b = x]\n") +
          knob_yaml("ring_b", "flag: --rb", "enum", "[\"off\", x, y]", "  requires: [ring_a = y]\n"),
      "c.yaml");
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return *catalogue;
}

KnobProfile closed(const KnobProfile& from, const Assignment& move) {
  const auto profile = closure(knobs(), from, move);
  EXPECT_TRUE(profile) << profile.error().message;
  return profile ? *profile : KnobProfile();
}

std::string refused(const KnobProfile& from, const Assignment& move) {
  const auto profile = closure(knobs(), from, move);
  return profile ? "not refused" : profile.error().message;
}

TEST(JointMove, WhatIsRequiredGoesWithIt) {
  EXPECT_EQ(closed({}, {"k", "3"}), (KnobProfile{{"k", "3"}, {"sizes", "@exact_step_tokens"}}));
  EXPECT_EQ(closed({}, {"sizes", "@exact_step_tokens"}), (KnobProfile{{"k", "1"}, {"sizes", "@exact_step_tokens"}}));
  EXPECT_EQ(closed({{"k", "2"}}, {"sizes", "@exact_step_tokens"}), (KnobProfile{{"k", "2"}, {"sizes", "@exact_step_tokens"}}));
  EXPECT_EQ(closed({}, {"extra", "true"}), (KnobProfile{{"extra", "true"}, {"kernel", "true"}, {"mode", "full"}})) << "to any depth";
  EXPECT_EQ(closed({}, {"threads", "8"}), (KnobProfile{{"threads", "8"}}));
}

TEST(JointMove, WhatLosesItsRequirementGoesBack) {
  const KnobProfile all = {{"extra", "true"}, {"kernel", "true"}, {"mode", "full"}, {"threads", "8"}};
  EXPECT_EQ(closed(all, {"mode", "off"}), (KnobProfile{{"mode", "off"}, {"threads", "8"}}));
  EXPECT_EQ(closed({{"k", "3"}, {"sizes", "@exact_step_tokens"}}, {"k", "0"}), KnobProfile());
  EXPECT_EQ(closed(all, {"kernel", "false"}), (KnobProfile{{"mode", "full"}, {"threads", "8"}}));
}

TEST(JointMove, ConflictsAreRefused) {
  EXPECT_EQ(refused({{"bind", "core"}}, {"threads", "16"}), "bind = core conflicts with threads = 16");
  EXPECT_EQ(refused({{"threads", "16"}}, {"bind", "core"}), "bind = core conflicts with threads = 16");
  EXPECT_EQ(closed({{"threads", "16"}}, {"bind", "off"}), (KnobProfile{{"threads", "16"}}));
  EXPECT_EQ(refused({{"spec_a", "a"}}, {"spec_b", "b"}), "spec_b = b goes where spec_a goes: --spec");
  EXPECT_EQ(refused({}, {"nothing", "1"}), "s has no knob 'nothing'");
}

TEST(JointMove, RingsEnd) {
  EXPECT_EQ(refused({}, {"ring_a", "x"}), "ring_b = x requires ring_a = y");
  EXPECT_EQ(closed({}, {"ring_a", "y"}), (KnobProfile{{"ring_a", "y"}, {"ring_b", "x"}}));
}

TEST(JointMove, OneFormAndDifferences) {
  const Catalogue catalogue = knobs();
  EXPECT_EQ(canonical(catalogue, {{"threads", "4"}, {"k", "1"}}), (KnobProfile{{"k", "1"}}));
  const auto moves = difference(catalogue, {{"k", "1"}, {"threads", "8"}}, {{"k", "2"}, {"spec_a", "a"}});
  EXPECT_EQ(moves, (std::vector<Assignment>{{"k", "2"}, {"threads", "4"}, {"spec_a", "a"}}));
}

// Whatever is moved from wherever: it ends, and what comes out needs nothing more.
TEST(JointMove, EveryMoveOfShippedCataloguesIsClosedOrRefused) {
  for (const std::string& name : shipped_catalogues()) {
    const auto catalogue = load_catalogue(name);
    ASSERT_TRUE(catalogue);
    size_t closed_moves = 0;
    for (const Knob& knob : catalogue->knobs) {
      for (const KnobValue& value : knob.values) {
        const auto profile = closure(*catalogue, {}, {knob.name, value});
        if (!profile) {
          EXPECT_EQ(profile.error().kind, ErrorKind::kUnsupported);
          continue;
        }
        ++closed_moves;
        EXPECT_EQ(canonical(*catalogue, *profile), *profile);
        for (const auto& [set, set_value] : *profile) {
          EXPECT_EQ(closure(*catalogue, *profile, {set, set_value}), *profile) << name << ": " << set;
        }
      }
    }
    EXPECT_GT(closed_moves, catalogue->knobs.size()) << name;
  }
}

TEST(JointMove, DraftsOfVllmBringTheirSizes) {
  const auto vllm = load_catalogue("vllm"), ascend = load_catalogue("vllm-ascend");
  ASSERT_TRUE(vllm && ascend);
  const KnobProfile drafts = {
      {"cudagraph_capture_sizes", "@exact_step_tokens"}, {"num_speculative_tokens", "3"}, {"speculative_method", "mtp"}};
  EXPECT_EQ(closure(*vllm, {}, {"num_speculative_tokens", "3"}), drafts);
  EXPECT_EQ(closure(*ascend, {}, {"num_speculative_tokens", "3"}), drafts);
  EXPECT_EQ(closure(*ascend, {}, {"enable_static_kernel", "true"}),
            (KnobProfile{{"cudagraph_mode", "FULL_DECODE_ONLY"}, {"enable_static_kernel", "true"}}));
  EXPECT_EQ(closure(*ascend, {}, {"cpu_affinity_conf", "1"}).error().message, "cpu_affinity_conf = 1 conflicts with enable_cpu_binding");
}

}  // namespace
}  // namespace teapot::workbench
