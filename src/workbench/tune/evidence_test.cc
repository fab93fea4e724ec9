#include "workbench/tune/evidence.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

constexpr const char* kPage =
    R"({"threads": {"requested": 8, "active": "8"}, "static": {"requested": "on", "active": "off", "reason": "needs a graph"},
  "switches": [{"name": "wait", "active": true}, {"name": "plan", "active": "static"}]})";

Sources sources() {
  Sources found;
  found.get = [](const std::string& target) -> std::optional<std::string> {
    if (target == "/info") return kPage;
    return std::nullopt;
  };
  found.log =
      "system_info: n_threads = 8 (n_threads_batch = 16) / 32\nctx: flash_attn    = enabled\nctx: fused_moe     = 1\nctx: ser  = 6, 1\n"
      "spec: - n_max=2, n_min=0, p_min=0.50\nstarting\nCapturing graphs (decode) 8 of 8\nprefetch is not supported here\n";
  found.grown = parse_counters(
      "# HELP a x\na:accepted 31\na:drafted{model=\"m\"} 50\na:drafted{model=\"n\"} 50\na:eager 0\na:graph 7 1700000000\nbroken\n");
  found.model = "m.gguf";
  found.process = [](const std::string& file) -> std::optional<std::string> {
    if (file == "maps") return "7f00 /usr/lib/libjemalloc.so.2\n";
    if (file == "status") return "Name:\tserver\nVmLck:\t     12 kB\nVmSwap:\t 0 kB\nCpus_allowed_list:\t0-2,6\n";
    if (file == "task/*/status") return "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\nCpus_allowed:\t44\nCpus_allowed_list:\t2,6\n";
    if (file == "numa_maps") return "7f00 default file=/m\n7f10 bind:0 anon=3\n";
    if (file == "environ") return std::string("HOME=/h\0OMP_WAIT_POLICY=active\0EMPTY=\0", 38);
    return std::nullopt;
  };
  return found;
}

Evidence look(CheckKind kind, const std::string& what, const KnobValue& value = "1") {
  Knob knob;
  knob.name = "k";
  knob.check = kind;
  knob.check_what = what;
  return look_for(knob, value, sources());
}

TEST(Evidence, APageSaysWhatIsActive) {
  EXPECT_EQ(look(CheckKind::kHttp, "/info threads.active", "8").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "GET /info threads.active", "8.0").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info threads.active", "4").seen, Seen::kNo);
  const Evidence inert = look(CheckKind::kHttp, "/info static.active", "on");
  EXPECT_EQ(inert.seen, Seen::kNo);
  EXPECT_EQ(inert.what, "/info says static.active = off: needs a graph");
  EXPECT_EQ(look(CheckKind::kHttp, "/info static.active", "off").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info switches.wait.active", "on").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info switches.plan.active", "static").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info switches.plan.active", "auto").seen, Seen::kNobodyCanTell) << "auto becomes something";
  for (const char* nothing : {"/info no.such", "/other threads.active", "words about /info", "/info two words"}) {
    EXPECT_EQ(look(CheckKind::kHttp, nothing, "8").seen, Seen::kNobodyCanTell) << nothing;
  }
}

TEST(Evidence, CountersThatShouldOrShouldNotGrow) {
  EXPECT_EQ(look(CheckKind::kMetric, "a:eager must not grow").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph must not grow").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph must grow").seen, Seen::kYes);
  const Evidence share = look(CheckKind::kMetric, "a:accepted / a:drafted = 0.4..0.62");
  EXPECT_EQ(share.seen, Seen::kYes);
  EXPECT_EQ(share.what, "a:accepted / a:drafted = 0.31") << "what is usual is shown, not asked for";
  EXPECT_EQ(look(CheckKind::kMetric, "a:accepted / a:eager = 0.4..0.62").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kMetric, "a:eager = 0").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kMetric, "a:none must grow").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph must not grow", "off").seen, Seen::kNobodyCanTell) << "what is off leaves no traces";
}

TEST(Evidence, TheLogAndTheProcess) {
  EXPECT_EQ(look(CheckKind::kLog, "\"Capturing graphs (decode) ..\"; more words").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, "\"Something else\"").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kLog, "\"prefetch is not supported\" must be absent").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kLog, "\"graphs are disabled\" must be absent").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kLog, "a line without quotes").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kProcess, "/proc/PID/maps names libjemalloc").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kProcess, "/proc/PID/maps names libtcmalloc").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kProcess, "numa_maps, taskset").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kEcho, "whatever").seen, Seen::kNobodyCanTell);
}

TEST(Evidence, TheLogShowsTheValue) {
  const auto threads = [](const KnobValue& value) { return look(CheckKind::kLog, R"(/n_threads = {value}\b/; what people read)", value); };
  EXPECT_EQ(threads("8").seen, Seen::kYes);
  EXPECT_EQ(threads("8").what, "the log says \"n_threads = 8\"");
  EXPECT_EQ(threads("4").seen, Seen::kNo);
  EXPECT_EQ(threads("4").what, R"(the log has 8 in /n_threads = {value}\b/, not 4)");
  EXPECT_EQ(threads(std::nullopt).seen, Seen::kNobodyCanTell);
  EXPECT_EQ(threads("auto").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kLog, R"(/n_slots = {value}\b/)", "8").seen, Seen::kNobodyCanTell) << "no such line";
  EXPECT_EQ(look(CheckKind::kLog, R"(/flash_attn *= {value}\b/)", "on").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, R"(/flash_attn *= {value}\b/)", "off").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kLog, R"(/fused_moe *= {=0}\b/)", "true").seen, Seen::kNo) << "it was to take that away";
  EXPECT_EQ(look(CheckKind::kLog, R"(/fused_moe *= {=1}\b/)", "true").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, R"(/ser *= {value}\b/)", "6,1").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, R"(/p_min={value}\b/)", "0.5").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, R"(/n_min={value}\b/)", "0").seen, Seen::kYes) << "what is 0 is shown too";
  EXPECT_EQ(look(CheckKind::kLog, R"(/^capturing\b/i)").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, R"(/\d+ of 9/)").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kLog, R"(/prefetch is not/ must be absent)").seen, Seen::kNo);
}

TEST(Evidence, TheProcessShowsTheValue) {
  const auto process = [](const std::string& what, const KnobValue& value = "1") { return look(CheckKind::kProcess, what, value).seen; };
  EXPECT_EQ(process("status VmLck > 0"), Seen::kYes);
  EXPECT_EQ(process("status VmSwap > 0"), Seen::kNo);
  EXPECT_EQ(process("status VmLck + VmSwap > 0"), Seen::kYes);
  EXPECT_EQ(process("smaps_rollup AnonHugePages > 0"), Seen::kNobodyCanTell) << "it cannot be read";
  EXPECT_EQ(process("maps lacks {model}"), Seen::kYes);
  EXPECT_EQ(process("maps lacks libjemalloc"), Seen::kNo);
  EXPECT_EQ(process("status Cpus_allowed_list = {value}", "0,1,2,6"), Seen::kYes);
  EXPECT_EQ(process("status Cpus_allowed_list = {value}", "0-1"), Seen::kNo);
  EXPECT_EQ(process("task/*/status Cpus_allowed = {value}", "0x46"), Seen::kYes) << "a thread has two of its three processors";
  EXPECT_EQ(process("task/*/status Cpus_allowed = {value}", "0x11"), Seen::kNo);
  EXPECT_EQ(process(R"(numa_maps /^\S+ (bind|interleave)/)"), Seen::kYes);
  EXPECT_EQ(process(R"(numa_maps /^\S+ interleave/)"), Seen::kNo);
  EXPECT_EQ(process("numa_maps and affinity of the workers"), Seen::kNobodyCanTell);
  Knob prefix;
  prefix.set.kind = SetKind::kPrefix;
  prefix.check = CheckKind::kProcess;
  prefix.check_what = "status Cpus_allowed_list = {value}";
  EXPECT_EQ(look_for(prefix, "taskset -c 0-2,6", sources()).seen, Seen::kYes);
  EXPECT_EQ(look_for(prefix, "taskset -c 0", sources()).seen, Seen::kNo);
}

TEST(Evidence, WhatIsOnlyHandedOverIsNeverShownToBeInForce) {
  Knob knob;
  knob.set = {SetKind::kEnvironment, "OMP_WAIT_POLICY", "", ""};
  knob.check = CheckKind::kEcho;
  knob.check_what = "environ: it was handed over";
  const Evidence handed_over = look_for(knob, "active", sources());
  EXPECT_EQ(handed_over.seen, Seen::kNobodyCanTell);
  EXPECT_EQ(handed_over.what, "/proc/PID/environ has OMP_WAIT_POLICY=active: handed over, nothing shows its use");
  EXPECT_EQ(look_for(knob, "passive", sources()).seen, Seen::kNo);
  knob.set.name = "OMP_PROC_BIND";
  EXPECT_EQ(look_for(knob, "close", sources()).what, "/proc/PID/environ has no OMP_PROC_BIND");
  EXPECT_EQ(look(CheckKind::kEcho, "/info threads.active", "8").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kEcho, "/info threads.active", "4").seen, Seen::kNo);
}

TEST(Evidence, RepliesTellOfTheirDrafts) {
  Knob knob;
  knob.check = CheckKind::kHttp;
  knob.check_what = "reply:draft_n must grow";
  Sources found = sources();
  found.grown["reply:draft_n"] = 12;
  EXPECT_EQ(look_for(knob, "mtp", found).seen, Seen::kYes);
  found.grown["reply:draft_n"] = 0;
  EXPECT_EQ(look_for(knob, "mtp", found).seen, Seen::kNo);
}

TEST(Counters, ThoseWorthKeeping) {
  Counters grown = {{"a_total", 3}, {"eager", 0}, {"idle", 0}};
  EXPECT_EQ(worth_keeping(grown, "eager must not grow"), (Counters{{"a_total", 3}, {"eager", 0}}));
  for (int i = 0; i < 300; ++i) grown[fmt::format("n{}", i)] = 1;
  grown["s:draft_total"] = 5;
  EXPECT_EQ(worth_keeping(grown, "n7, n70 / n71"), (Counters{{"n7", 1}, {"n70", 1}, {"n71", 1}, {"s:draft_total", 5}}));
}

TEST(Counters, ARatioIsOfTwo) {
  const auto ratio = ratio_in("s:accepted / s:drafted");
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->above, "s:accepted");
  EXPECT_EQ(ratio->below, "s:drafted");
  for (const char* none : {"s:rate", "a / b / c", "there is no counter: a.b / c, summed", ""}) EXPECT_FALSE(ratio_in(none)) << none;
}

TEST(Counters, FormulasOverThem) {
  const Counters counters = {{"a:x", 6}, {"y", 3}, {"zero", 0}};
  const auto value = [&](std::string_view formula) { return evaluate(formula, counters).value().value(); };
  EXPECT_EQ(value("a:x / y"), 2);
  EXPECT_EQ(value("1 + a:x / y"), 3);
  EXPECT_EQ(value("(1 + a:x) * y - 2"), 19);
  EXPECT_FALSE(evaluate("1 + a:x / zero", counters)->has_value());
  for (const char* wrong : {"", "a:x y", "a:x /", "(y", "no counter: words"}) EXPECT_FALSE(evaluate(wrong, counters)) << wrong;
  EXPECT_EQ(evaluate("unknown", counters).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(evaluate(std::string(1000, '('), counters));
  EXPECT_EQ(growth({{"y", 1}}, counters).at("y"), 2);
}

}  // namespace
}  // namespace teapot::workbench
