#include "workbench/tune/check_form.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue_for_tests.h"
#include "workbench/tune/catalogue_summary.h"

namespace teapot::workbench {
namespace {

size_t judged_in(const std::string& name) {
  const auto catalogue = load_catalogue(name);
  EXPECT_TRUE(catalogue);
  size_t count = 0;
  for (const Knob& knob : catalogue->knobs) {
    const auto forms = parse_check(knob.check, knob.check_what);
    EXPECT_TRUE(forms) << knob.name;
    count += forms && is_judged(*forms) ? 1 : 0;
  }
  return count;
}

// Of 43, 32, 57, 60 and 78 checks. A check that becomes prose by a slip of its writer is not to go unnoticed.
TEST(CheckForm, MostOfWhatTheShippedCataloguesAskForIsLookedAt) {
  EXPECT_GE(judged_in("llama.cpp"), 34u);
  EXPECT_GE(judged_in("ik_llama.cpp"), 30u);
  EXPECT_GE(judged_in("sglang"), 45u);
  EXPECT_GE(judged_in("vllm"), 20u);
  EXPECT_GE(judged_in("vllm-ascend"), 30u);
}

TEST(CheckForm, ProseIsProse) {
  for (const char* prose : {"affinity of the threads (taskset -p)", "Cpus_allowed_list in /proc/PID/status", "numa_maps, taskset"}) {
    EXPECT_TRUE(parse_check(CheckKind::kProcess, prose)->empty()) << prose;
  }
  EXPECT_TRUE(parse_check(CheckKind::kMetric, "padded against unpadded tokens; the log says so")->empty());
  EXPECT_FALSE(is_judged(*parse_check(CheckKind::kMetric, "a / b"))) << "shown, but nothing is expected of it";
  EXPECT_EQ(parse_check(CheckKind::kLog, R"(/a\/{value}/ in a line, /no pattern/; /b/; "c" and "d .. e" must be absent)")->size(), 4u);
}

TEST(CheckForm, APatternThatIsNoneIsAFaultOfTheCatalogue) {
  const auto message = [](const std::string& what) {
    std::string knob = knob_yaml("x", "flag: --x", "int", "[1]");
    knob.replace(knob.find("check: {kind: none}"), 19, "check: {kind: log, what: '" + what + "'}");
    const auto catalogue = parse_catalogue(catalogue_head() + knob, "c.yaml");
    return catalogue ? "" : catalogue.error().message;
  };
  EXPECT_EQ(message("/n = {value}/"), "");
  EXPECT_TRUE(message("/n = ({value}/").contains("c.yaml:18: knob 'x': check: what: /n = (")) << message("/n = ({value}/");
  EXPECT_TRUE(message("/{value} {=0}/").contains("at most once"));
}

TEST(CheckForm, TheSummaryNamesWhatPeopleMustLookAt) {
  const auto catalogue = load_catalogue("llama.cpp");
  ASSERT_TRUE(catalogue);
  const std::string text = summary(*catalogue);
  EXPECT_TRUE(text.contains("  looked at by the tuner: ")) << text;
  EXPECT_TRUE(text.contains("  by people, their words are prose: prio, numa, ")) << text;
  EXPECT_FALSE(text.contains("acceptance is no ratio")) << text;
  EXPECT_TRUE(summary(*load_catalogue("sglang")).contains("acceptance is no ratio of two counters"));
}

}  // namespace
}  // namespace teapot::workbench
