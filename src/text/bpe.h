// Byte-pair merging (spec 6.1): a piece starts as one token a byte; the neighbours with the lowest merge rank are joined, the
// left-most first, until no neighbours can be joined.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace teapot::text {

struct Merge {
  int32_t left;
  int32_t right;
  int32_t result;
};

// Immutable; safe to use from several threads at once.
class Bpe {
 public:
  Bpe() = default;
  // bytes: the token of each byte. merges: in the order of their ranks; of equal pairs the last one counts, as in the reference.
  Bpe(const std::array<int32_t, 256>& bytes, std::span<const Merge> merges);

  // Appends the tokens of piece to ids. At most 2 GiB; time n log n.
  void encode(std::string_view piece, std::vector<int32_t>& ids) const;

 private:
  static constexpr uint32_t kNoRank = UINT32_MAX;

  // Open addressing: one cache line holds four slots, and most look-ups end in the first.
  struct Slot {
    uint64_t pair;
    uint32_t rank;
    int32_t result;
  };
  struct Found {
    uint32_t rank;  // kNoRank: these two do not merge
    int32_t result;
  };
  struct Symbol;

  size_t home_slot(uint64_t pair) const;
  Found find(int32_t left, int32_t right) const;
  void encode_short(std::string_view piece, std::vector<int32_t>& ids) const;
  void encode_long(std::string_view piece, std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> bytes_{};
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace teapot::text
