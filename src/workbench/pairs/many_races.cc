#include "workbench/pairs/many_races.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace teapot::workbench {
namespace {

std::vector<size_t> in_order(size_t count, const std::function<bool(size_t, size_t)>& before) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return before(a, b) || (!before(b, a) && a < b); });
  return order;
}

std::vector<size_t> first_of(std::vector<size_t> order, size_t count) {
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

}  // namespace

std::vector<size_t> holm(std::span<const double> p_values, double alpha) {
  const size_t count = p_values.size();
  auto order = in_order(count, [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  size_t rejected = 0;
  while (rejected < count && p_values[order[rejected]] <= alpha / static_cast<double>(count - rejected)) ++rejected;
  return first_of(std::move(order), rejected);
}

std::vector<size_t> e_bh(std::span<const double> e_values, double alpha) {
  const size_t count = e_values.size();
  auto order = in_order(count, [&](size_t a, size_t b) { return e_values[a] > e_values[b]; });
  size_t rejected = 0;
  for (size_t k = 1; k <= count; ++k) {
    if (e_values[order[k - 1]] >= static_cast<double>(count) / (static_cast<double>(k) * alpha)) rejected = k;
  }
  return first_of(std::move(order), rejected);
}

}  // namespace teapot::workbench
