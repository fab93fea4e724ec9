#include "engine/draft_vocab.h"

#include <algorithm>

namespace teapot::engine {
namespace {

// Making the list takes 40 us, less than a thousandth of what 16 rounds take. A new id is likeliest to come again soon after.
constexpr uint32_t kRounds = 16;

// Some hours of replies for a handful of users, and a hundred for each group of a usual size.
constexpr uint32_t kSampled = 1 << 18;

uint32_t groups(uint32_t ids) { return (ids + plan::kHeadRowGroup - 1) / plan::kHeadRowGroup; }

}  // namespace

DraftVocab::DraftVocab(uint32_t vocab, uint32_t size)
    : vocab_(vocab),
      wanted_(groups(std::min(size, vocab))),
      context_(groups(vocab)),
      sampled_(groups(vocab)),
      in_(groups(vocab), 1),
      rest_(GroupCounts::kBins) {
  rows_.reserve(wanted_);
  if (wanted_ < in_.size()) choose();
}

void DraftVocab::begin(std::span<const int32_t> prompt) {
  for (const int32_t id : prompt) context_.add(group(id));
  age_ = kRounds;
}

void DraftVocab::saw(int32_t id) {
  ++(has(id) ? coverage_.inside : coverage_.outside);
  context_.add(group(id));
  sampled_.add(group(id));
  if (++sampled_total_ < kSampled) return;
  sampled_.halve();
  sampled_total_ /= 2;
}

void DraftVocab::end(std::span<const int32_t> tokens) {
  for (const int32_t id : tokens) context_.remove(group(id));
}

std::span<const plan::HeadRows> DraftVocab::rows() {
  if (wanted_ < in_.size() && age_ == kRounds) choose();
  ++age_;
  return rows_;
}

void DraftVocab::choose() {
  // A long prompt leaves half of the room to what is frequent everywhere.
  const uint32_t of_context = std::min(context_.counted(), wanted_ / 2);
  MostFrequent context(context_.bins(), of_context);
  std::ranges::copy(sampled_.bins(), rest_.begin());
  for (uint32_t i = 0; i < in_.size(); ++i) {
    in_[i] = context.takes(context_.bin(i)) ? 1 : 0;
    if (in_[i] != 0) --rest_[sampled_.bin(i)];
  }
  // Where none was sampled yet the lowest ids come first: those that the tokenizer's training merged first.
  MostFrequent sampled(rest_, wanted_ - of_context);
  rows_.clear();
  for (uint32_t i = 0; i < in_.size(); ++i) {
    if (in_[i] == 0 && !sampled.takes(sampled_.bin(i))) continue;
    in_[i] = 1;
    const uint32_t first = i * plan::kHeadRowGroup, count = std::min(plan::kHeadRowGroup, vocab_ - first);
    if (!rows_.empty() && rows_.back().first + rows_.back().count == first) {
      rows_.back().count += count;
    } else {
      rows_.push_back({first, count});
    }
  }
  age_ = 0;
}

}  // namespace teapot::engine
