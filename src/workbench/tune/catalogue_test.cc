#include "workbench/tune/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "test_data.h"
#include "workbench/tune/catalogue_for_tests.h"
#include "workbench/tune/catalogue_summary.h"

namespace teapot::workbench {
namespace {

std::string message(const std::string& yaml) {
  const auto catalogue = parse_catalogue(yaml, "c.yaml");
  return catalogue ? "no error" : catalogue.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Catalogue, EveryKeyIsRead) {
  const auto c = parse_catalogue(R"(server: s
version: "2"
api: openai
metric_prefix: "s:"
flag_style: equals
launch:
  start: "serve {model}"
  env: {A: "1", B: "{devices}"}
  ready: GET /health
  ready_timeout_s: 30
  stop: SIGTERM
  acceptance: a / b
knobs:
- name: k
  set: {flag: "--conf", json: a.b}
  type: enum
  values: [null, one, "2", 3, true]
  scope: graph
  rank: 2
  restart: false
  requires: [other, "other = 4", "at night"]
  conflicts: ["other > 7"]
  since: "1.0"
  until: "2.0"
  effect: faster
  gain: [-5, 2.5]
  risk: {text: may, note: careful}
  check: {kind: log, what: '"here"'}
  inert: never
  evidence: [a.py, "r#1"]
  verified: false
- name: other
  set: {env: OTHER}
  type: int
  values: [4, 8]
  scope: host
  rank: 5
  restart: true
  effect: slower
  risk: {text: lossy}
  check: {kind: none}
  evidence: [b.py]
  verified: true
gone:
- {name: old, why: removed, evidence: notes}
)",
                                 "c.yaml");
  ASSERT_TRUE(c) << c.error().message;
  EXPECT_EQ(c->server, "s");
  EXPECT_EQ(c->metric_prefix, "s:");
  EXPECT_TRUE(c->flag_equals);
  EXPECT_EQ(c->launch.env, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "{devices}"}}));
  EXPECT_EQ(c->launch.ready_timeout_s, 30u);
  EXPECT_EQ(c->launch.acceptance, "a / b");
  EXPECT_EQ(c->launch.metrics, "");
  ASSERT_EQ(c->knobs.size(), 2u);
  const Knob& k = c->knobs[0];
  EXPECT_EQ(k.line, 14);
  EXPECT_EQ(k.set.kind, SetKind::kJson);
  EXPECT_EQ(k.set.json_key, "a.b");
  EXPECT_EQ(k.values, (std::vector<KnobValue>{std::nullopt, "one", "2", "3", "true"}));
  EXPECT_EQ(k.literal, (std::vector<bool>{false, false, false, true, true}));
  EXPECT_EQ(k.scope, KnobScope::kGraph);
  EXPECT_FALSE(k.restart);
  ASSERT_EQ(k.requires_.size(), 3u);
  EXPECT_EQ(k.requires_[0].relation, Relation::kInForce);
  EXPECT_EQ(k.requires_[1].relation, Relation::kEqual);
  EXPECT_EQ(k.requires_[2].relation, Relation::kText);
  EXPECT_EQ(k.requires_[2].line, 21);
  ASSERT_EQ(k.conflicts.size(), 1u);
  EXPECT_EQ(k.conflicts[0].relation, Relation::kGreater);
  EXPECT_EQ(k.since + k.until, "1.02.0");
  EXPECT_EQ(k.gain, std::make_pair(-5.0, 2.5));
  EXPECT_EQ(k.text, TextRisk::kMay);
  EXPECT_EQ(k.risk_note, "careful");
  EXPECT_EQ(k.check, CheckKind::kLog);
  EXPECT_EQ(k.check_what, "\"here\"");
  EXPECT_EQ(k.inert, "never");
  EXPECT_FALSE(k.verified);
  EXPECT_EQ(c->knobs[1].gain, std::nullopt);
  ASSERT_EQ(c->gone.size(), 1u);
  EXPECT_EQ(c->gone[0].why, "removed");
  EXPECT_EQ(c->drafted_tokens(), nullptr);
}

TEST(Catalogue, AllFaultsAreToldWithTheirLines) {
  const std::string text = message(catalogue_head("color: red\n") + knob_yaml("a", "flag: --a", "int", "[1, two]", "  speed: 3\n") +
                                   knob_yaml("a", "flag: --b, env: B", "int", "[]") +
                                   knob_yaml("c", "flag: --c", "enum", "[x, x]", "  gain: [3, 1]\n  requires: ['a = x', c]\n"));
  for (const char* part :
       {"c.yaml:5: catalogue: unknown key 'color', expected one of: server, ",
        "c.yaml:13: knob 'a': values: found 'two', expected a whole number", "c.yaml:22: knob 'a': unknown key 'speed'",
        "c.yaml:24: knob 'a': set: flag: found 2 of env, flag, prefix, host (env, flag), expected one",
        "c.yaml:26: knob 'a': values: found a list of 0, expected a list of 1 to 100 values, the default first",
        "knob 'a' stands twice: first in line 10", "c.yaml:38: knob 'c': values: 'x' stands twice",
        "c.yaml:47: knob 'c': gain: found a list, expected [low, high] in %", "c.yaml:48: knob 'c': requires: 'c' names the knob itself"}) {
    EXPECT_TRUE(has(text, part)) << part << "\nis not in\n" << text;
  }
}

TEST(Catalogue, WhatIsMissingOrContradicts) {
  EXPECT_TRUE(has(message("[]"), "c.yaml:1: catalogue: found a list, expected a mapping"));
  EXPECT_TRUE(has(message("server: s\n"), "c.yaml:1: catalogue: knobs: is missing"));
  EXPECT_TRUE(has(message(catalogue_head()), "knobs: found nothing, expected a list"));
  const auto of = [](const std::string& knobs, std::string_view more = "") { return message(catalogue_head(more) + knobs); };
  EXPECT_TRUE(has(of("- {name: x}\n"), "c.yaml:9: knob 'x': values: is missing"));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --x, style: switch", "bool", "[true, false]")), "a switch that is left out is false"));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --x, style: pair", "bool", "[true, false]")), "negate: belongs to style: pair"));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --x, style: twice", "bool", "[true, false]")), "found 'twice', expected switch or pair"));
  EXPECT_TRUE(has(of(knob_yaml("x", "env: X", "switch", "[false, true]")), "found switch, expected a type with a value"));
  EXPECT_TRUE(has(of(knob_yaml("x", "prefix: nice", "string", "[nice, null]")), "expected null first"));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --x", "int", "[1, \"@cores\"]")), "found '@cores', expected one of @exact_step_tokens, "));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --x", "colour", "[1]")), "type: found 'colour', expected one of: bool, int, "));
  EXPECT_TRUE(has(of(knob_yaml("x y", "flag: --x", "int", "[1]")), "expected letters, digits, _ - ."));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --x", "enum", "[a, b]") + knob_yaml("y", "flag: --y", "int", "[1]", "  requires: [x = c]\n")),
                  "'x = c' holds for no value of x"));
  EXPECT_TRUE(has(of(knob_yaml("x", "flag: --f, json: a", "int", "[1]") + knob_yaml("y", "flag: --f, json: a.b", "int", "[1]")),
                  "the JSON key 'a.b' lies within 'a', the value of knob 'x'"));
  EXPECT_TRUE(has(message("server: s\nserver: t\n"), "c.yaml:2: catalogue: the key 'server' stands twice"));
  EXPECT_TRUE(has(message("a: [1\n"), "c.yaml:2: "));
  EXPECT_TRUE(has(message("a: 1\n---\nb: 2\n"), "more than one document"));
  const auto other = parse_catalogue(
      "server: s\nversion: 1\napi: grpc\nmetric_prefix: []\nflag_style: colon\nlaunch: {start: \"a 'b\", ready: /health}\nknobs: []\n",
      "c.yaml");
  ASSERT_FALSE(other);
  for (const char* part : {":3: catalogue: api: found 'grpc', expected openai", ":4: catalogue: metric_prefix", ":5: catalogue: flag_style",
                           ":6: launch: start: a quote ' that does not end", ":6: launch: ready: found '/health'"}) {
    EXPECT_TRUE(has(other.error().message, part)) << part << "\nis not in\n" << other.error().message;
  }
}

TEST(Catalogue, AnAliasCannotMakeAListOfAnyLength) {
  std::string values = "[&a [1, 2, 3, 4, 5, 6, 7, 8, 9]";
  for (char name = 'b'; name < 'h'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1);
    values += fmt::format(", &{} [{}, {}, {}, {}, {}, {}, {}, {}, {}]", name, before, before, before, before, before, before, before,
                          before, before);
  }
  EXPECT_TRUE(has(message(catalogue_head() + knob_yaml("x", "flag: --x", "list", values + "]")), "a list of too many items"));
}

TEST(Catalogue, ShippedOnesAreBuiltIn) {
  const std::map<std::string, size_t> expected = {{"ik_llama.cpp", 47}, {"llama.cpp", 52},   {"sglang", 57},
                                                  {"vllm", 60},         {"vllm-ascend", 78}, {"xllm", 38}};
  const std::vector<std::string> names = shipped_catalogues();
  ASSERT_EQ(names.size(), expected.size());
  for (const std::string& name : names) {
    const auto catalogue = load_catalogue(name);
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    EXPECT_EQ(catalogue->server, name);
    EXPECT_EQ(catalogue->knobs.size(), expected.at(name));
    EXPECT_TRUE(has(summary(*catalogue), fmt::format("{} knobs", catalogue->knobs.size())));
    for (const Knob& knob : catalogue->knobs) EXPECT_FALSE(knob.effect.empty()) << knob.name;
  }
  EXPECT_EQ(load_catalogue("vlm").error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(has(load_catalogue("vlm").error().message, "vllm, vllm-ascend, xllm"));
  EXPECT_EQ(load_catalogue("no/such/file").error().kind, ErrorKind::kNotFound);
}

TEST(Catalogue, ShippedOnesHaveTheFactsOfTheSharedOnes) {
  const auto folder = teapot::testing::shared_data("knobs");
  TEAPOT_NEEDS(folder);
  for (const std::string& name : shipped_catalogues()) {
    const auto ours = load_catalogue(name), theirs = load_catalogue((folder / (name + ".yaml")).string());
    ASSERT_TRUE(ours && theirs) << (theirs ? "" : theirs.error().message);
    EXPECT_EQ(ours->version, theirs->version);
    EXPECT_EQ(ours->launch.start, theirs->launch.start);
    ASSERT_EQ(ours->knobs.size(), theirs->knobs.size());
    for (size_t i = 0; i < ours->knobs.size(); ++i) {
      const Knob &a = ours->knobs[i], &b = theirs->knobs[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.values, b.values) << a.name;
      EXPECT_EQ(a.literal, b.literal) << a.name;
      EXPECT_TRUE(a.type == b.type && a.scope == b.scope && a.rank == b.rank && a.restart == b.restart && a.gain == b.gain) << a.name;
      EXPECT_TRUE(a.text == b.text && a.check == b.check && a.verified == b.verified) << a.name;
      EXPECT_TRUE(a.set.kind == b.set.kind && a.set.name == b.set.name && a.set.json_key == b.set.json_key) << a.name;
      EXPECT_NE(a.effect, b.effect) << a.name;
    }
    ASSERT_EQ(ours->gone.size(), theirs->gone.size());
    for (size_t i = 0; i < ours->gone.size(); ++i) EXPECT_EQ(ours->gone[i].name, theirs->gone[i].name);
  }
}

TEST(Catalogue, WhatIsGoneIsToldWithItsReason) {
  const auto catalogue = load_catalogue("ik_llama.cpp");
  ASSERT_TRUE(catalogue);
  EXPECT_TRUE(has(catalogue->no_knob("--fused-moe"), "since it is on (common/common.cpp, docs/parameters.md)"));
  EXPECT_TRUE(has(catalogue->no_knob("fused_moe"), "since it is on"));
  EXPECT_TRUE(has(catalogue->no_knob("--spec-ngram-size"), "--spec-type SPEC:k=v is meant"));
  EXPECT_EQ(catalogue->no_knob("fuse"), "the catalogue of ik_llama.cpp has no knob 'fuse'");
}

TEST(Catalogue, TheKnobOfDraftedTokensIsFound) {
  for (const auto& [name, knob] :
       std::map<std::string, std::string>{{"vllm", "num_speculative_tokens"}, {"vllm-ascend", "num_speculative_tokens"}}) {
    const auto catalogue = load_catalogue(name);
    ASSERT_TRUE(catalogue);
    ASSERT_NE(catalogue->drafted_tokens(), nullptr) << name;
    EXPECT_EQ(catalogue->drafted_tokens()->name, knob);
  }
  EXPECT_EQ(load_catalogue("xllm")->drafted_tokens(), nullptr) << "none of its values depends on them";
}

}  // namespace
}  // namespace teapot::workbench
