#include "workbench/trace/data_types.h"

#include <gtest/gtest.h>

namespace teapot::workbench::trace {
namespace {

TEST(DataTypes, AMatmulMovesInputsAndOutputs) {
  EXPECT_EQ(moved_bytes("\"1,2048;2048,512\"", "DT_BF16;DT_BF16", "\"1,512\"", "DT_BF16", false), 2 * (2048 + 2048 * 512 + 512));
  EXPECT_EQ(moved_bytes("4,8;8,2", "INT8;INT4", "4,2", "FLOAT", false), 32 + 8 + 32);
}

TEST(DataTypes, OfExpertsOnlyThoseThatRowsCanTouchAreRead) {
  const int64_t weights = 8 * 2048 * 1024 * 2;
  EXPECT_EQ(moved_bytes("8,2048;256,2048,1024;256", "DT_BF16;DT_BF16;INT64", "8,1024", "DT_BF16", true),
            8 * 2048 * 2 + weights + 256 * 8 + 8 * 1024 * 2);
}

TEST(DataTypes, WhatIsNotToldGivesNoCount) {
  EXPECT_FALSE(moved_bytes("1,16;;4", "DT_BF16;DT_UNDEFINED;INT8", "1", "DT_BF16", false));
  EXPECT_FALSE(moved_bytes("2;1", "2864699776;32729", "129", "DT_BF16", false));
  EXPECT_FALSE(moved_bytes("1,2048", "DT_BF16;DT_BF16", "1", "DT_BF16", false));
  EXPECT_FALSE(moved_bytes("", "", "", "", false));
  EXPECT_FALSE(moved_bytes("9999999999,9999999999", "FLOAT", "1", "FLOAT", false));
  EXPECT_EQ(elements_bytes(2048, "BFP16"), 4096);
  EXPECT_EQ(elements_bytes(2048, "17"), -1);
}

}  // namespace
}  // namespace teapot::workbench::trace
