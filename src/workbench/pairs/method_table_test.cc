// The method's tables of false positives (experiments.md, section 1), simulated anew: shares of runs in which nothing is there, and the
// e-process, looked at after each pair, or Student's t over 16 pairs says that something is.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "engine/philox.h"
#include "workbench/pairs/e_process.h"
#include "workbench/pairs/pair_order.h"
#include "workbench/pairs/paired_figures.h"

namespace teapot::workbench {
namespace {

constexpr int kRuns = 10'000, kRunsOfTheTables = 20'000;
constexpr size_t kPairs = 64, kOrderedPairs = 16;

class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  double uniform() { return engine::uniform(seed_, position_++); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t seed_, position_ = 0;
};

using Fill = std::function<void(Draws& draws, std::span<double> d)>;

struct Shares {
  double e = 0, t = 0;
};

Shares rejected(size_t pairs, uint64_t seed, const Fill& fill) {
  Draws draws(seed);
  std::vector<double> d(pairs);
  int by_e = 0, by_t = 0;
  for (int run = 0; run < kRuns; ++run) {
    fill(draws, d);
    EProcess process;
    bool hit = false;
    for (const double each : d) {
      process.add(each);
      hit = hit || process.ln_e() >= std::log(20);
    }
    const PairedFigures sixteen = PairedFigures::of(std::span(d).first(kOrderedPairs), 0.05);
    by_e += hit;
    by_t += std::abs(sixteen.mean) > sixteen.half_width;
  }
  return {by_e / double{kRuns}, by_t / double{kRuns}};
}

// Three Monte-Carlo standard deviations of both simulations, and what the table's figure was rounded by.
void expect_near(double found, double table, double rounded, const char* what) {
  const double sd = std::sqrt(table * (1 - table) * (1.0 / kRuns + 1.0 / kRunsOfTheTables));
  EXPECT_NEAR(found, table, 3 * sd + rounded / 2) << what;
}

TEST(MethodTable, GaussianNoise) {
  const Shares found = rejected(kPairs, 21, [](Draws& draws, std::span<double> d) {
    for (double& each : d) each = draws.normal();
  });
  expect_near(found.e, 0.029, 0.001, "e-process");
  expect_near(found.t, 0.051, 0.001, "t, n = 16");
}

TEST(MethodTable, StudentNoiseOfThreeDegrees) {
  const Shares found = rejected(kPairs, 22, [](Draws& draws, std::span<double> d) {
    for (double& each : d) {
      double squares = 0;
      for (int i = 0; i < 3; ++i) {
        const double one = draws.normal();
        squares += one * one;
      }
      each = draws.normal() / std::sqrt(squares / 3);
    }
  });
  expect_near(found.e, 0.016, 0.001, "e-process");
  expect_near(found.t, 0.045, 0.001, "t, n = 16");
}

TEST(MethodTable, OnePairInTwentyFiveDeviationsOff) {
  const Shares found = rejected(kPairs, 23, [](Draws& draws, std::span<double> d) {
    for (double& each : d) {
      const double off = draws.uniform();
      each = draws.normal() + (off < 0.025 ? 5 : off < 0.05 ? -5 : 0);
    }
  });
  expect_near(found.e, 0.017, 0.001, "e-process");
  expect_near(found.t, 0.039, 0.001, "t, n = 16");
}

// Nothing survives it: why the order is drawn, and why the lag-1 correlation is told.
TEST(MethodTable, PairsThatDependOnTheOnesBefore) {
  const Shares found = rejected(kPairs, 24, [](Draws& draws, std::span<double> d) {
    double now = draws.normal();
    for (double& each : d) each = now, now = 0.5 * now + std::sqrt(0.75) * draws.normal();
  });
  expect_near(found.e, 0.31, 0.01, "e-process");
  expect_near(found.t, 0.25, 0.01, "t, n = 16");
}

// Where in a row of runs those of a pair stand.
struct Places {
  size_t a, b;
};
using Order = std::function<Places(uint64_t run, size_t pair)>;

Places places(size_t pair, bool b_first) { return {2 * pair + b_first, 2 * pair + !b_first}; }
Places all_a_first(uint64_t, size_t pair) { return {pair, kOrderedPairs + pair}; }
Places abab(uint64_t, size_t pair) { return places(pair, false); }
Places abba(uint64_t, size_t pair) { return places(pair, pair % 2 == 1); }
Places drawn(uint64_t run, size_t pair) { return places(pair, engine::uniform(run, pair) < 0.5); }
Places blocks(uint64_t run, size_t pair) { return places(pair, b_goes_first(run, static_cast<uint32_t>(pair))); }

// What disturbs a run, by its place; phase: of this row of runs, from 0 to 1.
using Disturbance = double (*)(size_t place, double phase);

double drift(size_t place, double) { return 0.002 * static_cast<double>(place); }
double cycle(size_t place, double phase) { return 0.02 * std::sin(2 * std::numbers::pi * (static_cast<double>(place) / 4 + phase)); }

// Sixteen pairs of runs with a deviation of 1 % of their own.
Shares rejected(const Order& order, Disturbance disturbance, uint64_t seed) {
  uint64_t run = 0;
  return rejected(kOrderedPairs, seed, [&](Draws& draws, std::span<double> d) {
    const double phase = draws.uniform();
    for (size_t pair = 0; pair < d.size(); ++pair) {
      const Places at = order(run, pair);
      d[pair] = disturbance(at.b, phase) - disturbance(at.a, phase) + 0.01 * (draws.normal() - draws.normal());
    }
    ++run;
  });
}

struct Cell {
  const char* what;
  Order order;
  Disturbance disturbance;
  double t;
  std::optional<double> e;  // nothing: the table doesn't say
};

TEST(MethodTable, TheOrderOfRuns) {
  const Cell cells[] = {{"drift, AAAA...BBBB", all_a_first, drift, 1, 1},
                        {"drift, ABAB", abab, drift, 0.078, 0.026},
                        {"drift, ABBA", abba, drift, 0.046, 0.014},
                        {"drift, blocks", blocks, drift, 0.045, 0.017},
                        {"cycle, ABAB", abab, cycle, 0.009, std::nullopt},
                        {"cycle, ABBA", abba, cycle, 0.83, 0.73},
                        {"cycle, drawn in each pair", drawn, cycle, 0.055, 0.028},
                        {"cycle, blocks", blocks, cycle, 0.078, 0.066}};
  uint64_t seed = 30;
  for (const Cell& cell : cells) {
    const Shares found = rejected(cell.order, cell.disturbance, seed++);
    const double rounded = cell.t > 0.1 ? 0.01 : 0.001;
    expect_near(found.t, cell.t, rounded, cell.what);
    if (cell.e) expect_near(found.e, *cell.e, rounded, cell.what);
  }
}

}  // namespace
}  // namespace teapot::workbench
