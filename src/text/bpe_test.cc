#include "text/bpe.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace teapot::text {
namespace {

std::array<int32_t, 256> identity() {
  std::array<int32_t, 256> bytes;
  for (int i = 0; i < 256; ++i) bytes[i] = i;
  return bytes;
}

// The definition, step by step.
std::vector<int32_t> merge_slowly(std::string_view piece, const std::vector<Merge>& merges) {
  std::map<std::pair<int32_t, int32_t>, std::pair<size_t, int32_t>> table;
  for (size_t rank = 0; rank < merges.size(); ++rank) table[{merges[rank].left, merges[rank].right}] = {rank, merges[rank].result};
  std::vector<int32_t> ids(piece.begin(), piece.end());
  while (true) {
    auto best = table.end();
    size_t at = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = table.find({ids[i], ids[i + 1]});
      if (found == table.end() || (best != table.end() && found->second.first >= best->second.first)) continue;
      best = found;
      at = i;
    }
    if (best == table.end()) return ids;
    ids[at] = best->second.second;
    ids.erase(ids.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

TEST(Bpe, AgreesWithItsDefinitionForEveryLength) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Merge> merges;
    std::vector<int32_t> tokens = {'a', 'b', 'c'};
    for (int i = 0; i < 40; ++i) {
      const int32_t left = tokens[random() % tokens.size()];
      const int32_t right = tokens[random() % tokens.size()];
      merges.push_back({left, right, 1000 + i});
      tokens.push_back(1000 + i);
    }
    std::shuffle(merges.begin(), merges.end(), random);
    const Bpe bpe(identity(), merges);
    for (size_t length = 0; length < 120; ++length) {
      std::string piece;
      for (size_t i = 0; i < length; ++i) piece += static_cast<char>('a' + random() % 3);
      std::vector<int32_t> ids;
      bpe.encode(piece, ids);
      EXPECT_EQ(ids, merge_slowly(piece, merges)) << piece;
    }
  }
}

TEST(Bpe, TheLeftMostOfEqualRanksComesFirst) {
  const Bpe bpe(identity(), std::vector<Merge>{{'a', 'a', 300}, {300, 300, 301}});
  std::vector<int32_t> ids;
  bpe.encode("aaaaaaa", ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{301, 300, 'a'}));
}

TEST(Bpe, TheLastOfEqualPairsCounts) {
  const Bpe bpe(identity(), std::vector<Merge>{{'a', 'b', 300}, {'b', 'c', 301}, {'a', 'b', 300}});
  std::vector<int32_t> ids;
  bpe.encode("abc", ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{'a', 301}));
}

TEST(Bpe, WithoutMerges) {
  std::vector<int32_t> ids;
  Bpe(identity(), {})
      .encode(
          "\xFF"
          "a",
          ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{255, 'a'}));
}

TEST(Bpe, AWordOfManyMegabytes) {
  const Bpe bpe(identity(), std::vector<Merge>{{'a', 'a', 300}, {300, 300, 301}, {301, 301, 302}});
  std::vector<int32_t> ids;
  bpe.encode(std::string(4 << 20, 'a'), ids);
  EXPECT_EQ(ids, std::vector<int32_t>((4 << 20) / 8, 302));
}

}  // namespace
}  // namespace teapot::text
