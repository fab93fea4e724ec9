#include "workbench/trace/spilled_rows.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace teapot::workbench::trace {
namespace {

struct Row {
  uint64_t key;
  uint64_t rest[3];
  auto operator<=>(const Row&) const = default;
};

// Beyond what is held in memory.
constexpr size_t kMany = SpilledBytes::kInMemory / sizeof(Row) / 4 * 5 + 7;

uint64_t scrambled(uint64_t i) { return (i * 0x9E3779B97F4A7C15u) >> 20; }

SpilledRows<Row> rows(size_t count) {
  SpilledRows<Row> result;
  for (size_t i = 0; i < count; ++i) result.push_back({scrambled(i), {i, i, i}});
  return result;
}

void check_sorted(size_t count) {
  SpilledRows<Row> some = rows(count);
  some.sort(std::less<>());
  ASSERT_EQ(some.size(), count);
  uint64_t sum = 0, wrong = 0;
  const Row* before = nullptr;
  some.each([&](const Row& row) {
    sum += row.rest[1];
    wrong += row.key != scrambled(row.rest[0]) || (before != nullptr && row < *before);
    before = &row;
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(sum, uint64_t{count} * (count - 1) / 2);
}

TEST(SpilledRows, FewAreSorted) { check_sorted(1000); }

TEST(SpilledRows, ManyAreSorted) { check_sorted(kMany); }

TEST(SpilledRows, ThoseThatGoLeaveTheOthersInOrder) {
  for (const size_t count : {size_t{10}, kMany}) {
    SpilledRows<Row> some = rows(count);
    some.erase_if([](const Row& row) { return row.rest[0] % 3 != 1; });
    ASSERT_EQ(some.size(), (count + 1) / 3);
    uint64_t next = 1, wrong = 0;
    some.each([&](const Row& row) {
      wrong += row.rest[0] != next || row.key != scrambled(next);
      next += 3;
    });
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(SpilledRows, ACopyIsAnother) {
  SpilledRows<Row> some = rows(100);
  SpilledRows<Row> copy = some;
  copy[5].key = 1;
  EXPECT_EQ(some[5].key, scrambled(5));
  some = std::move(copy);
  EXPECT_EQ(some[5].key, 1u);
  EXPECT_EQ(some.size(), 100u);
}

}  // namespace
}  // namespace teapot::workbench::trace
