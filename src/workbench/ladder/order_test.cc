#include "workbench/ladder/order.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

Status any(const std::string& lever, const std::string& value) {
  if (lever == "nonsense") return fail(ErrorKind::kInvalid, "'{}' is no lever", lever);
  if (value == "wrong") return fail(ErrorKind::kInvalid, "'{}' is no value of {}", value, lever);
  return {};
}

std::string error_of(const std::string& text) {
  const auto order = parse_ladder_order(text, "o.yaml", any);
  EXPECT_FALSE(order) << text;
  return order ? "" : order.error().message;
}

TEST(LadderOrder, HasRungsAndWhatOthersMeasured) {
  const auto order = parse_ladder_order(
      "name: n\nrungs:\n  - {lever: sync, off: op, on: layer}\n  - {lever: sync, off: layer, on: flags, exact: false}\n"
      "  - {lever: mtp, off: 1, on: auto, group: mtp, reload: false}\n"
      "others:\n  - {name: x, note: y, steps: [14.2, 12], with_drafts: [{c: 4, ms: 8.8}]}\n",
      "o.yaml", any);
  ASSERT_TRUE(order) << order.error().message;
  ASSERT_EQ(order->rungs.size(), 3u);
  EXPECT_EQ(order->rungs[1].lever, "sync");
  EXPECT_EQ(order->rungs[1].on, "flags");
  EXPECT_FALSE(order->rungs[1].exact);
  EXPECT_TRUE(order->rungs[1].reload);
  EXPECT_EQ(order->rungs[1].line, 4);
  EXPECT_FALSE(order->rungs[2].reload);
  EXPECT_EQ(order->rungs[2].group, RungGroup::kMtp);
  EXPECT_EQ(order->others[0].steps_ms, (std::vector<double>{14.2, 12}));
  EXPECT_EQ(order->others[0].with_drafts_ms[0], (std::pair<uint32_t, double>{4, 8.8}));
}

TEST(LadderOrder, NamesWhatIsWrongWithItsLine) {
  const std::string rung = "rungs:\n  - {lever: plan, off: eager, on: static}\n";
  EXPECT_EQ(error_of("rungs:\n  - {lever: nonsense, off: a, on: b}\n"), "o.yaml:2: rung 1: off: 'nonsense' is no lever");
  EXPECT_EQ(error_of("rungs:\n  - lever: plan\n    off: a\n    on: wrong\n"), "o.yaml:4: rung 1: on: 'wrong' is no value of plan");
  EXPECT_EQ(error_of("rungs:\n  - {lever: plan, off: a}\n"), "o.yaml:2: rung 1: on: is missing");
  EXPECT_EQ(error_of("rungs:\n  - {lever: plan, off: a, on: a}\n"), "o.yaml:2: rung 1: on: 'a' is what off is");
  EXPECT_EQ(error_of(rung + "  - {lever: plan, off: eager, on: static}\n"),
            "o.yaml:3: rung 2: off: found 'eager', but plan stands at 'static' here");
  EXPECT_EQ(error_of("rungs:\n  - {lever: plan, off: a, on: b, reload: false}\n"),
            "o.yaml:2: rung 1: reload: only mtp can differ between requests to one engine");
  EXPECT_EQ(error_of("rungs:\n  - {lever: plan, off: a, on: b, group: other}\n"),
            "o.yaml:2: rung 1: group: found 'other', expected decode or mtp");
  EXPECT_EQ(error_of("rungs:\n  - {lever: mtp, off: \"off\", on: 1, group: mtp}\n  - {lever: plan, off: a, on: b}\n"),
            "o.yaml:3: rung 2: group: a decode rung after an mtp rung; expected all decode rungs first");
  EXPECT_NE(error_of(rung + "rang: 1\n").find("o.yaml:3: ladder: unknown key 'rang'"), std::string::npos);
  EXPECT_EQ(error_of("rungs: []\n"), "o.yaml:1: ladder: rungs: expected a list of 1 to 200");
  EXPECT_EQ(error_of(rung + "others:\n  - {name: x, steps: [-1]}\n"), "o.yaml:4: other 1: steps: found '-1', expected milliseconds");
}

TEST(LadderOrder, TheOneThatIsBuiltInIsOne) {
  const auto order = default_ladder_order(any);
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_GT(order->rungs.size(), 15u);
  EXPECT_EQ(order->others.at(0).steps_ms.front(), 14.2);
  for (const LadderRung& rung : order->rungs) EXPECT_NE(rung.lever, "isa");
}

}  // namespace
}  // namespace teapot::workbench
