#include "engine/step_cost.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace teapot::engine {
namespace {

constexpr double kWeight = 0.25;  // of a new figure
constexpr double kFar = 1.25;     // a single step is no reason to believe that costs changed by more

}  // namespace

StepCost::StepCost(uint32_t max_rows) {
  for (uint32_t rows = 1; rows < max_rows; rows *= 2) rows_.push_back(rows);
  rows_.push_back(max_rows);
  ms_.resize(rows_.size());
}

StepCost::Place StepCost::place(uint32_t rows) const {
  assert(rows > 0);
  const auto next = std::ranges::upper_bound(rows_, rows);
  const auto node = static_cast<size_t>(next - rows_.begin()) - 1;
  if (next == rows_.end()) return {node, 0};
  return {node, static_cast<double>(rows - rows_[node]) / (rows_[node + 1] - rows_[node])};
}

double StepCost::ms(uint32_t rows) const {
  const auto known = [&](size_t node) { return ms_[node] > 0; };
  const auto [node, share] = place(rows);
  if (known(node) && share == 0) return ms_[node];
  if (known(node) && known(node + 1)) return ms_[node] + share * (ms_[node + 1] - ms_[node]);
  // The nearest two measured nodes below, or all there is.
  size_t high = std::min(node + 1, ms_.size());
  while (high > 0 && !known(high - 1)) --high;
  if (high == 0) return 0;
  size_t low = high - 1;
  while (low > 0 && !known(low - 1)) --low;
  if (low == 0) return ms_[high - 1] * std::max(1.0, static_cast<double>(rows) / rows_[high - 1]);
  const double slope = (ms_[high - 1] - ms_[low - 1]) / (rows_[high - 1] - rows_[low - 1]);
  return ms_[high - 1] + std::max(0.0, slope) * (static_cast<double>(rows) - rows_[high - 1]);
}

void StepCost::observe(uint32_t rows, double ms) {
  const auto [node, share] = place(rows);
  if (share == 0 && ms_[node] == 0) {
    ms_[node] = ms;
    return;
  }
  // A node that was never measured begins at what its line promises.
  for (const size_t end : {node, node + (share > 0 ? 1 : 0)}) {
    if (ms_[end] == 0) ms_[end] = this->ms(rows_[end]);
    if (ms_[end] == 0) return;  // nothing is known yet
  }
  const double seen = std::clamp(ms / this->ms(rows), 1 / kFar, kFar);
  // Half of it is all nodes', the other half that of these.
  const double common = std::pow(seen, kWeight / 2);
  for (double& node_ms : ms_) node_ms *= common;
  const double expected = this->ms(rows);
  const double error = (seen / common - 1) * expected / 2;
  // Both ends move so that the point between them moves by kWeight of it.
  const double norm = (1 - share) * (1 - share) + share * share;
  const auto move = [&](size_t end, double part) { ms_[end] = std::max(ms_[end] + kWeight * error * part / norm, 1e-6); };
  move(node, 1 - share);
  if (share > 0) move(node + 1, share);
}

uint32_t StepCost::rows_within(uint32_t decode_rows, double stretch, uint32_t wanted) const {
  if (std::isinf(stretch) || decode_rows == 0) return wanted;
  const double limit = stretch * ms(decode_rows);
  uint32_t low = 1, high = std::max(1u, wanted);
  while (low < high) {
    const uint32_t middle = high - (high - low) / 2;
    if (ms(decode_rows + middle) <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return std::min(low, wanted);
}

}  // namespace teapot::engine
