// What a step takes, by its rows (1 or more): measured before the first request, and again with each step that runs. Decode thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teapot::engine {

class StepCost {
 public:
  // max_rows: of a step.
  explicit StepCost(uint32_t max_rows);

  // The row counts that are worth a measurement: between them costs are a straight line.
  const std::vector<uint32_t>& nodes() const { return rows_; }

  // ms > 0. The first figure of a node is taken as it is, later ones move it: a step's time is noisy. Half of what they move it by moves
  // all nodes: a host that has become slower is so for steps of any size, also for those that nobody made since.
  void observe(uint32_t rows, double ms);

  // Beyond what was measured: on along the last line.
  double ms(uint32_t rows) const;

  // How many rows can join a step of `decode_rows`, so that it takes at most `stretch` times what it would without them; at least 1 (or a
  // prompt would never be read), at most `wanted`.
  uint32_t rows_within(uint32_t decode_rows, double stretch, uint32_t wanted) const;

 private:
  struct Place {
    size_t node;   // the line from it to the next
    double share;  // of the way; above 1 beyond the last
  };
  Place place(uint32_t rows) const;

  std::vector<uint32_t> rows_;  // 1, 2, 4, ...
  std::vector<double> ms_;      // [nodes]; 0: not measured
};

}  // namespace teapot::engine
