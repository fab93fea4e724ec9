#include "text/bpe.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <queue>

namespace teapot::text {
namespace {

// Up to here a scan for the lowest rank beats a heap; nearly every word of a language is shorter.
constexpr size_t kShortPiece = 32;

constexpr uint64_t kEmpty = ~uint64_t{0};

uint64_t pair_of(int32_t left, int32_t right) { return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right); }

}  // namespace

// A token within a long piece, in a linked list of the tokens that are left.
struct Bpe::Symbol {
  int32_t id;
  int32_t before;  // index, -1: none
  int32_t after;   // index, -1: none
  uint32_t rank;   // of the merge with the one after it; kNoRank: none, or this one was merged away
};

Bpe::Bpe(const std::array<int32_t, 256>& bytes, std::span<const Merge> merges) : bytes_(bytes) {
  slots_.assign(std::bit_ceil(2 * merges.size() + 2), Slot{kEmpty, kNoRank, 0});
  for (uint32_t rank = 0; rank < merges.size(); ++rank) {
    const uint64_t pair = pair_of(merges[rank].left, merges[rank].right);
    size_t i = home_slot(pair);
    while (slots_[i].pair != kEmpty && slots_[i].pair != pair) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {pair, rank, merges[rank].result};
  }
}

size_t Bpe::home_slot(uint64_t pair) const {
  // Multiplication moves the entropy upwards, so the upper bits are folded in before and after (the finaliser of MurmurHash3).
  pair ^= pair >> 33;
  pair *= 0xFF51AFD7ED558CCDu;
  pair ^= pair >> 33;
  return pair & (slots_.size() - 1);
}

Bpe::Found Bpe::find(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(left, right);
  for (size_t i = home_slot(pair);; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].pair == pair) return {slots_[i].rank, slots_[i].result};
    if (slots_[i].pair == kEmpty) return {kNoRank, 0};
  }
}

void Bpe::encode(std::string_view piece, std::vector<int32_t>& ids) const {
  if (piece.size() <= kShortPiece) {
    encode_short(piece, ids);
  } else {
    encode_long(piece, ids);
  }
}

void Bpe::encode_short(std::string_view piece, std::vector<int32_t>& ids) const {
  std::array<int32_t, kShortPiece> tokens;
  std::array<Found, kShortPiece> merges;  // of token i with token i + 1
  size_t count = piece.size();
  for (size_t i = 0; i < count; ++i) tokens[i] = bytes_[static_cast<uint8_t>(piece[i])];
  for (size_t i = 0; i + 1 < count; ++i) merges[i] = find(tokens[i], tokens[i + 1]);
  while (count > 1) {
    const auto lowest = std::min_element(merges.begin(), merges.begin() + (count - 1), [](Found a, Found b) { return a.rank < b.rank; });
    if (lowest->rank == kNoRank) break;
    const auto i = static_cast<size_t>(lowest - merges.begin());
    tokens[i] = lowest->result;
    std::copy(tokens.begin() + i + 2, tokens.begin() + count, tokens.begin() + i + 1);
    std::copy(merges.begin() + i + 1, merges.begin() + (count - 1), merges.begin() + i);
    --count;
    if (i > 0) merges[i - 1] = find(tokens[i - 1], tokens[i]);
    if (i + 1 < count) merges[i] = find(tokens[i], tokens[i + 1]);
  }
  ids.insert(ids.end(), tokens.begin(), tokens.begin() + count);
}

void Bpe::encode_long(std::string_view piece, std::vector<int32_t>& ids) const {
  assert(piece.size() <= INT32_MAX);
  const auto size = static_cast<int32_t>(piece.size());
  std::vector<Symbol> symbols(piece.size());
  std::vector<uint64_t> candidates;  // rank << 32 | index: the lowest rank, and of equal ranks the left-most, comes first
  const auto candidate = [](uint32_t rank, int32_t i) { return uint64_t{rank} << 32 | static_cast<uint32_t>(i); };
  for (int32_t i = 0; i < size; ++i) symbols[i] = {bytes_[static_cast<uint8_t>(piece[i])], i - 1, i + 1 < size ? i + 1 : -1, kNoRank};
  for (int32_t i = 0; i + 1 < size; ++i) {
    symbols[i].rank = find(symbols[i].id, symbols[i + 1].id).rank;
    if (symbols[i].rank != kNoRank) candidates.push_back(candidate(symbols[i].rank, i));
  }
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> queue(std::greater<>{}, std::move(candidates));

  const auto refresh = [&](int32_t i) {
    symbols[i].rank = symbols[i].after < 0 ? kNoRank : find(symbols[i].id, symbols[symbols[i].after].id).rank;
    if (symbols[i].rank != kNoRank) queue.push(candidate(symbols[i].rank, i));
  };
  while (!queue.empty()) {
    const auto rank = static_cast<uint32_t>(queue.top() >> 32);
    const auto i = static_cast<int32_t>(queue.top() & UINT32_MAX);
    queue.pop();
    Symbol& left = symbols[i];
    if (left.rank != rank) continue;  // its neighbour has changed since
    Symbol& right = symbols[left.after];
    left.id = find(left.id, right.id).result;
    left.after = right.after;
    right.rank = kNoRank;
    if (left.after >= 0) symbols[left.after].before = i;
    refresh(i);
    if (left.before >= 0) refresh(left.before);
  }
  for (int32_t i = 0; i >= 0; i = symbols[i].after) ids.push_back(symbols[i].id);
}

}  // namespace teapot::text
