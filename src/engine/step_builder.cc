#include "engine/step_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace teapot::engine {
namespace {

// Rows of a step that give their logits back for prompt_logprobs: 32 rows of 248,320 f32 are 32 MB.
constexpr uint32_t kScoredRows = 32;

constexpr uint32_t kPlainEvery = 32;  // 3 % of the steps, 1.5 % of the time at a stretch of 2

}  // namespace

StepBuilder::StepBuilder(const SchedulerOptions& options, const Vocabulary& vocabulary, const StepCost& cost)
    : options_(options), vocabulary_(vocabulary), cost_(cost) {
  for (const int32_t id : vocabulary_.unsampled) packet_.biases.push_back({id, -std::numeric_limits<float>::infinity()});
}

plan::RowReturn StepBuilder::wants(const Sequence& sequence, uint32_t ahead) const {
  const plan::RowReturn least = sequence.sampler.wants();
  if (options_.logits_mask == LogitsMask::kInline) return least;
  const bool masked = !sequence.sampler.plain_mask(ahead) || !vocabulary_.unsampled.empty();
  return masked ? plan::RowReturn::kLogits : least;
}

void StepBuilder::choose_rows(std::span<const std::unique_ptr<Sequence>> sequences) {
  decode_rows_ = prefill_rows_ = 0;
  for (const auto& sequence : sequences) {
    sequence->rows = sequence->slot && !sequence->prefilling() ? 1 + static_cast<uint32_t>(sequence->drafts.size()) : 0;
    decode_rows_ += sequence->rows;
  }
  uint32_t left = prompt_rows();
  uint32_t scored_left = kScoredRows;
  for (const auto& sequence : sequences) {
    if (!sequence->slot || !sequence->prefilling() || left == 0) continue;
    sequence->rows = std::min(left, sequence->next_cut() - sequence->committed);
    if (sequence->request().prompt_logprobs) {
      sequence->rows = std::min(sequence->rows, scored_left);
      scored_left -= sequence->rows;
    }
    left -= sequence->rows;
    prefill_rows_ += sequence->rows;
  }
  since_plain_ = decode_rows_ > 0 && prefill_rows_ > 0 ? since_plain_ + 1 : 0;
}

// The limit is a multiple of what a step without a piece takes: now and then that must be seen again.
uint32_t StepBuilder::prompt_rows() {
  const bool limited = decode_rows_ > 0 && std::isfinite(options_.tpot_stretch);
  if (limited && since_plain_ >= kPlainEvery) return 0;
  return cost_.rows_within(decode_rows_, options_.tpot_stretch, options_.prefill_chunk);
}

uint32_t StepBuilder::expected_prompt_rows(std::span<const std::unique_ptr<Sequence>> sequences) const {
  uint32_t decoding = 0, prompts = 0;
  for (const auto& sequence : sequences) {
    if (!sequence->slot) continue;
    if (sequence->prefilling()) {
      prompts += sequence->next_cut() - sequence->committed;
    } else {
      ++decoding;
    }
  }
  return std::min(prompts, cost_.rows_within(decoding, options_.tpot_stretch, options_.prefill_chunk));
}

bool StepBuilder::build(std::span<const std::unique_ptr<Sequence>> sequences) {
  choose_rows(sequences);
  const uint32_t rows = decode_rows_ + prefill_rows_;
  if (rows == 0) return false;
  packet_.tokens.clear();
  packet_.sequences.clear();
  packet_.returns.assign(rows, plan::RowReturn::kNothing);
  packet_.top_k = 0;
  packet_.biases.resize(vocabulary_.unsampled.size());  // what all rows share stays from step to step
  packet_.masks.assign(rows, {});
  results_ = 0;
  for (const auto& sequence : sequences) {
    if (sequence->rows > 0) add(*sequence);
  }
  return true;
}

void StepBuilder::add(Sequence& sequence) {
  const auto first = static_cast<uint32_t>(packet_.tokens.size());
  const bool prompt = sequence.prefilling();
  const auto begin = sequence.tokens.begin() + sequence.committed;
  packet_.tokens.insert(packet_.tokens.end(), begin, begin + (prompt ? sequence.rows : 1));
  if (!prompt) packet_.tokens.insert(packet_.tokens.end(), sequence.drafts.begin(), sequence.drafts.end());
  packet_.sequences.push_back({.slot = *sequence.slot,
                               .first_row = first,
                               .rows = sequence.rows,
                               .position = sequence.committed,
                               .kind = prompt                    ? plan::StepKind::kPrefill
                                       : sequence.drafts.empty() ? plan::StepKind::kDecode
                                                                 : plan::StepKind::kVerify});
  add_returns(sequence);
}

// The last row of what is known gives the next token, each draft's row the one after it.
void StepBuilder::add_returns(Sequence& sequence) {
  const uint32_t first = packet_.sequences.back().first_row;
  sequence.first_result = results_;
  if (sequence.prefilling() && sequence.request().prompt_logprobs) {
    std::fill_n(packet_.returns.begin() + first, sequence.rows, plan::RowReturn::kLogits);
    results_ += sequence.rows;
    return;
  }
  if (sequence.committed + sequence.rows < sequence.tokens.size()) return;
  const uint32_t last = first + sequence.rows - 1, drafts = sequence.prefilling() ? 0 : sequence.rows - 1;
  for (uint32_t ahead = 0; ahead <= drafts; ++ahead) ask(sequence, last - drafts + ahead, ahead);
}

void StepBuilder::ask(const Sequence& sequence, uint32_t row, uint32_t ahead) {
  const plan::RowReturn wanted = wants(sequence, ahead);
  packet_.returns[row] = wanted;
  ++results_;
  if (wanted == plan::RowReturn::kLogits) return;
  packet_.masks[row] = mask(sequence, ahead);
  if (wanted == plan::RowReturn::kTopK) packet_.top_k = std::max(packet_.top_k, sequence.sampler.top_k());
}

plan::BiasRange StepBuilder::mask(const Sequence& sequence, uint32_t ahead) {
  if (sequence.sampler.plain_mask(ahead)) return {0, static_cast<uint32_t>(vocabulary_.unsampled.size())};
  const auto first = static_cast<uint32_t>(packet_.biases.size());
  sequence.sampler.biases(ahead, packet_.biases);
  return {first, static_cast<uint32_t>(packet_.biases.size()) - first};
}

}  // namespace teapot::engine
