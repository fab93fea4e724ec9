#include "workbench/tune/condition.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue_for_tests.h"
#include "workbench/tune/condition_reader.h"

namespace teapot::workbench {
namespace {

Catalogue knobs() {
  const auto catalogue = parse_catalogue(catalogue_head() + knob_yaml("mode", "flag: --mode", "enum", "[null, FULL, PIECE, \"off\"]") +
                                             knob_yaml("on", "flag: --on, style: switch", "switch", "[false, true]") +
                                             knob_yaml("n", "flag: --n", "int", "[1, 2, 8]") +
                                             knob_yaml("sizes", "flag: --sizes", "string", "[\"1,2\", \"@exact_step_tokens\"]"),
                                         "c.yaml");
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return *catalogue;
}

Truth truth(const std::string& text, const KnobProfile& profile, bool required = false) {
  const Catalogue catalogue = knobs();
  return parse_condition(text, catalogue, required).holds(catalogue, profile);
}

TEST(Condition, Forms) {
  EXPECT_EQ(truth("on", {}), Truth::kFalse);
  EXPECT_EQ(truth("on", {{"on", "true"}}), Truth::kTrue);
  EXPECT_EQ(truth("mode", {}), Truth::kFalse) << "what is left out is not in force";
  EXPECT_EQ(truth("mode", {{"mode", "off"}}), Truth::kFalse);
  EXPECT_EQ(truth("mode = FULL", {{"mode", "FULL"}}), Truth::kTrue);
  EXPECT_EQ(truth("mode = FULL", {}), Truth::kFalse);
  EXPECT_EQ(truth("mode != NONE", {}), Truth::kTrue) << "what is left out equals nothing";
  EXPECT_EQ(truth("mode!=FULL", {{"mode", "FULL"}}), Truth::kFalse);
  EXPECT_EQ(truth("mode in FULL, PIECE", {{"mode", "PIECE"}}), Truth::kTrue);
  EXPECT_EQ(truth("mode in FULL, PIECE", {{"mode", "off"}}), Truth::kFalse);
  EXPECT_EQ(truth("n > 1", {}), Truth::kFalse);
  EXPECT_EQ(truth("n > 1", {{"n", "8"}}), Truth::kTrue);
  EXPECT_EQ(truth("n >= 2", {{"n", "2"}}), Truth::kTrue);
  EXPECT_EQ(truth("n < 2", {{"n", "2"}}), Truth::kFalse);
  EXPECT_EQ(truth("n <= 2.0", {{"n", "2"}}), Truth::kTrue);
  EXPECT_EQ(truth("n = 2.0", {{"n", "2"}}), Truth::kTrue) << "numbers are compared as such";
}

TEST(Condition, AnythingElseIsText) {
  for (const char* text :
       {"MoE", "n > m", "n = the same", "mode or n", "2 with mode = FULL", "mode FULL", "tensor_parallel_size > 1", "n in"}) {
    EXPECT_EQ(truth(text, {}), Truth::kUnknown) << text;
  }
}

TEST(Condition, WhatFollowsTheStepIsAskedForWithItsValue) {
  EXPECT_EQ(truth("sizes", {}, true), Truth::kFalse);
  EXPECT_EQ(truth("sizes", {{"sizes", "@exact_step_tokens"}}, true), Truth::kTrue);
  EXPECT_EQ(truth("sizes = multiples of k+1", {{"sizes", "@exact_step_tokens"}}, true), Truth::kTrue);
  EXPECT_EQ(truth("sizes", {}, false), Truth::kTrue) << "a conflict is with any value";
}

}  // namespace
}  // namespace teapot::workbench
