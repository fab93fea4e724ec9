#include <algorithm>
#include <limits>

#include "cpu/ops/ops.h"
#include "cpu/ops/wanted_rows.h"
#include "plan/candidate_order.h"

namespace teapot::cpu {
namespace {

// Ids whose exponentials are summed in one go: the same ones however many workers there are, so that the sum has one order.
constexpr size_t kSumBlock = 4096;

constexpr float kOut = -std::numeric_limits<float>::infinity();

bool is_draft(plan::RowReturn asked) { return asked == plan::RowReturn::kDraft; }

// How many of a row's best are looked for.
size_t wanted(const Step& step, uint32_t row) { return step.packet.returns[row] == plan::RowReturn::kTopK ? step.packet.top_k : 1; }

// z: the row's logits of the ids [first, last). Handed out logits are raw.
void add_biases(const Step& step, uint32_t row, size_t first, size_t last, float* z) {
  if (step.packet.masks.empty() || step.packet.returns[row] == plan::RowReturn::kLogits) return;
  const auto [begin, count] = step.packet.masks[row];
  const std::span<const plan::LogitBias> all = std::span(step.packet.biases).subspan(begin, count);
  const auto low = static_cast<int32_t>(first), high = static_cast<int32_t>(last);
  if (all.empty() || all.front().id >= high || all.back().id < low) return;
  for (auto it = std::ranges::lower_bound(all, low, {}, &plan::LogitBias::id); it != all.end() && it->id < high; ++it) {
    z[it->id - low] += it->bias;
  }
}

}  // namespace

void HeadOp::Best::clear() {
  count = 0;
  nan = false;
}

void HeadOp::Best::add(const plan::Candidate& candidate, size_t k) {
  if (!room_for(candidate, k)) return;
  size_t at = count < k ? count++ : k - 1;
  for (; at > 0 && before(candidate, kept[at - 1]); --at) kept[at] = kept[at - 1];
  kept[at] = candidate;
}

bool HeadOp::Best::room_for(const plan::Candidate& candidate, size_t k) const { return count < k || before(candidate, kept[k - 1]); }

void HeadOp::Best::search(const KernelTable& kernels, const float* z, size_t first, size_t last, size_t k) {
  const int32_t largest = kernels.argmax(z, last - first);
  if (largest < 0) {
    nan = true;
    return;
  }
  const auto candidate = [&](size_t i) { return plan::Candidate{z[i], static_cast<int32_t>(first + i)}; };
  const plan::Candidate best = candidate(static_cast<size_t>(largest));
  if (best.logit == kOut || !room_for(best, k)) return;
  if (k == 1) return add(best, k);
  for (size_t i = 0; i < last - first; ++i) {
    if (z[i] > kOut) add(candidate(i), k);
  }
}

void HeadOp::Best::join(const Best& other, size_t k) {
  nan = nan || other.nan;
  for (size_t i = 0; i < other.count && room_for(other.kept[i], k); ++i) add(other.kept[i], k);
}

HeadOp::HeadOp(const plan::Head& op, Binder& binder)
    : x_(binder.f32(op.x)),
      norm_(binder.vector(op.norm)),
      eps_(op.eps),
      linear_(binder.linear(op.matrix)),
      full_logits_(binder.environment().levers.full_logits) {
  hidden_ = binder.activations(binder.f32(op.hidden), binder.rows(), linear_.int8);
  sums_ = binder.scratch<float>(binder.rows(), (linear_.rows + kSumBlock - 1) / kSumBlock);
  best_offset_ = align_up(binder.rows() * linear_.tile_rows * sizeof(float));
  binder.need_worker_bytes(best_offset_ + binder.rows() * sizeof(Best));
}

HeadOp::Best* HeadOp::best_of(const Step& step, size_t worker) const { return reinterpret_cast<Best*>(step.worker(worker) + best_offset_); }

bool HeadOp::any(const Step& step, bool (*asked)(plan::RowReturn)) {
  return std::ranges::any_of(step.result.rows, [&](uint32_t row) { return asked(step.packet.returns[row]); });
}

// z: the row's logits of the ids [first, last).
void HeadOp::compare(const Step& step, uint32_t row, size_t first, size_t last, float* z, Best& best) const {
  add_biases(step, row, first, last, z);
  best.search(step.kernels, z, first, last, wanted(step, row));
}

void HeadOp::run(Worker& worker) const {
  Step& step = worker.step();
  const std::span<const uint32_t> rows = step.result.rows;
  const size_t asked = rows.size(), vocab = linear_.rows;
  const bool keep_logits = full_logits_ || any(step, keeps_logits);
  const Activations x = hidden_.at(step);
  Best* const best = best_of(step, worker.index());
  for (size_t i = 0; i < asked; ++i) best[i].clear();
  WantedRows ids(step.packet, vocab);
  const size_t tiles = (ids.size() + linear_.tile_rows - 1) / linear_.tile_rows;
  worker.phase("vocabulary", asked == 0 ? 0 : tiles, [&](size_t tile) {
    const size_t begin = tile * linear_.tile_rows;
    ids.visit(begin, std::min(begin + linear_.tile_rows, ids.size()), [&](size_t first, size_t last, size_t place) {
      float* const logits = keep_logits ? step.logits + place : reinterpret_cast<float*>(worker.scratch());
      const size_t stride = keep_logits ? vocab : last - first;
      linear_.matmul(linear_.weights, linear_.cols, first, last, x, rows.data(), asked, logits, stride);
      for (size_t i = 0; i < asked && !full_logits_; ++i) compare(step, rows[i], first, last, logits + i * stride, best[i]);
    });
  });
  if (!any(step, is_draft)) return;
  worker.sync([&] { choose(step); });
  const size_t blocks = (ids.size() + kSumBlock - 1) / kSumBlock;
  worker.phase("likelihood", asked * blocks, [&](size_t item) {
    const size_t i = item / blocks, begin = item % blocks * kSumBlock;
    if (!is_draft(step.packet.returns[rows[i]])) return;
    sums_.row(step, i)[item % blocks] =
        step.kernels.sum_exp(step.logits + i * vocab + begin, step.result.max[i], std::min(kSumBlock, ids.size() - begin));
  });
}

// The best of each row, once all logits are there.
void HeadOp::choose(Step& step) const {
  plan::StepResult& result = step.result;
  const size_t vocab = linear_.rows;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    const uint32_t row = result.rows[i];
    const plan::RowReturn asked = step.packet.returns[row];
    const size_t k = wanted(step, row);
    Best& best = best_of(step, 0)[i];
    if (full_logits_) {
      WantedRows ids(step.packet, vocab);
      ids.visit(0, ids.size(),
                [&](size_t first, size_t last, size_t place) { compare(step, row, first, last, step.logits + i * vocab + place, best); });
    }
    for (size_t worker = 1; worker < step.team.workers(); ++worker) best.join(best_of(step, worker)[i], k);
    if (asked == plan::RowReturn::kLogits) result.logits[i] = {step.logits + i * vocab, vocab};
    if (best.nan || best.count == 0) {
      result.max[i] = best.nan ? std::numeric_limits<float>::quiet_NaN() : kOut;
      continue;
    }
    result.argmax[i] = best.kept[0].id;
    result.max[i] = best.kept[0].logit;
    if (asked != plan::RowReturn::kTopK) continue;
    plan::Candidate* const top = step.top + i * k;
    std::copy_n(best.kept, best.count, top);
    result.top[i] = {top, best.count};
  }
}

void HeadOp::finish(Step& step) const {
  if (!any(step, is_draft)) return choose(step);
  plan::StepResult& result = step.result;
  const size_t blocks = (WantedRows(step.packet, linear_.rows).size() + kSumBlock - 1) / kSumBlock;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    if (!is_draft(step.packet.returns[result.rows[i]]) || result.argmax[i] < 0) continue;
    double sum = 0;
    for (size_t block = 0; block < blocks; ++block) sum += sums_.row(step, i)[block];
    result.probability[i] = static_cast<float>(1 / sum);
  }
}

}  // namespace teapot::cpu
