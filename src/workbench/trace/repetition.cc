// Steps of a trace without markers: the sequence of kernels' names repeats. Layers repeat as well, and so do pairs of steps; a step is the
// shortest period in which everything that happens once a step (an embedding, an argmax, sampling) returns to its place.
#include <algorithm>
#include <map>

#include "workbench/trace/steps.h"

namespace teapot::workbench::trace {
namespace {

constexpr double kExplained = 0.9;     // of the sequence, by a period
constexpr size_t kMaxCandidates = 64;  // distances that occur most often; each costs a pass over the sequence
constexpr size_t kContext = 8;         // slices by which the beginning of a step is known again,
constexpr size_t kAlike = 6;           // and how many of them must be the same

struct Sequence {
  std::vector<uint32_t> symbols;  // of the slices, by start
  std::vector<bool> token;        // [symbols] whether such a kernel runs once a step
  std::vector<int64_t> gap;       // before each slice, since all before it ended
};

Sequence sequence_of(const Trace& trace, const Rules& rules) {
  Sequence result;
  std::map<std::string_view, uint32_t> numbers;
  int64_t end = trace.device.front().start;
  trace.device.each([&](const DeviceSlice& slice) {
    const std::string& name = trace.names.text(slice.name);
    const bool comm = slice.kind == Class::kComm;
    const auto [at, is_new] =
        numbers.try_emplace(comm ? collective_kind(name) : std::string_view(name), static_cast<uint32_t>(numbers.size()));
    if (is_new) result.token.push_back(!comm && rules.is_token_kernel(name));
    result.symbols.push_back(at->second);
    result.gap.push_back(slice.start - end);
    end = std::max(end, slice.end);
  });
  return result;
}

// Distances between equal token kernels, ascending.
std::vector<size_t> candidates(const Sequence& sequence) {
  std::map<size_t, size_t> counts;
  std::map<uint32_t, size_t> last;
  for (size_t i = 0; i < sequence.symbols.size(); ++i) {
    if (!sequence.token[sequence.symbols[i]]) continue;
    const auto [at, is_first] = last.try_emplace(sequence.symbols[i], i);
    if (!is_first) ++counts[i - at->second];
    at->second = i;
  }
  // A kernel that runs several times a step has shorter distances: sums of neighbouring ones are steps, too.
  std::map<uint32_t, std::vector<size_t>> recent;
  for (size_t i = 0; i < sequence.symbols.size(); ++i) {
    if (!sequence.token[sequence.symbols[i]]) continue;
    std::vector<size_t>& places = recent[sequence.symbols[i]];
    for (size_t k = 2; k <= 4 && k <= places.size(); ++k) ++counts[i - places[places.size() - k]];
    places.push_back(i);
    if (places.size() > 4) places.erase(places.begin());
  }
  std::vector<std::pair<size_t, size_t>> ranked;  // (count, distance)
  for (const auto& [distance, count] : counts) {
    if (2 * distance <= sequence.symbols.size()) ranked.emplace_back(count, distance);
  }
  std::ranges::sort(ranked, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<size_t> result;
  for (size_t i = 0; i < std::min(ranked.size(), kMaxCandidates); ++i) result.push_back(ranked[i].second);
  std::ranges::sort(result);
  return result;
}

// Whether the sequence, and each token kernel on its own, repeats at this distance.
bool explains(const Sequence& sequence, size_t period) {
  size_t same = 0;
  std::vector<std::pair<size_t, size_t>> tokens(sequence.token.size());  // by symbol: (returned, seen)
  for (size_t i = period; i < sequence.symbols.size(); ++i) {
    const bool returned = sequence.symbols[i] == sequence.symbols[i - period];
    same += returned;
    if (!sequence.token[sequence.symbols[i]]) continue;
    tokens[sequence.symbols[i]].first += returned;
    ++tokens[sequence.symbols[i]].second;
  }
  bool any = false;
  for (const auto& [returned, seen] : tokens) {
    if (seen > 1 && 2 * returned < seen) return false;  // a step with a slice more or less loses one return, a wrong period nearly all
    any |= returned > 0;
  }
  return any && static_cast<double>(same) >= kExplained * static_cast<double>(sequence.symbols.size() - period);
}

int64_t median(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Where the first step begins: before which sequence of names the device idles longest, in the middle. It is known by its names, not by
// counting, as a step may have a slice more or less; it must stand in at least half of the periods.
size_t first_begin(const Sequence& sequence, size_t period) {
  struct Place {
    size_t first = 0;
    std::vector<int64_t> gaps;
  };
  std::map<std::vector<uint32_t>, Place> places;
  const size_t context = std::min(kContext, period);
  for (size_t i = 0; i + context <= sequence.symbols.size(); ++i) {
    const auto begin = sequence.symbols.begin() + static_cast<std::ptrdiff_t>(i);
    const auto [at, is_first] = places.try_emplace({begin, begin + static_cast<std::ptrdiff_t>(context)});
    if (is_first) at->second.first = i;
    if (i > 0) at->second.gaps.push_back(sequence.gap[i]);  // before the first slice of all nothing is known
  }
  const size_t periods = sequence.symbols.size() / period;
  size_t best = 0;
  int64_t longest = INT64_MIN;
  for (auto& [names, place] : places) {
    if (place.gaps.empty() || 2 * (place.gaps.size() + (place.first == 0)) < periods) continue;
    const int64_t gap = median(place.gaps);
    if (gap > longest || (gap == longest && place.first < best)) {
      longest = gap;
      best = place.first;
    }
  }
  return best;
}

size_t alike(const Sequence& sequence, size_t a, size_t b) {
  size_t same = 0;
  for (size_t k = 0; k < kContext && b + k < sequence.symbols.size(); ++k) same += sequence.symbols[a + k] == sequence.symbols[b + k];
  return same;
}

// A step may have a few slices more or less than another: the next one begins where the sequence looks most as it did, nearest to a period
// away.
size_t next_begin(const Sequence& sequence, size_t begin, size_t period) {
  const size_t expected = begin + period, reach = period / 4;
  size_t best = expected, most = kAlike - 1;
  for (size_t away = 0; away <= reach && most < kContext; ++away) {
    for (const size_t place : {expected - away, expected + away}) {
      if (place >= sequence.symbols.size() || sequence.symbols[place] != sequence.symbols[begin]) continue;
      const size_t same = alike(sequence, begin, place);
      if (same > most) {
        most = same;
        best = place;
      }
    }
  }
  return best;
}

}  // namespace

size_t steps_by_repetition(Trace& trace, const Rules& rules) {
  trace.device.each([](DeviceSlice& slice) { slice.step = kNoStep; });
  const Sequence sequence = sequence_of(trace, rules);
  const std::vector<size_t> distances = candidates(sequence);
  const auto period = std::ranges::find_if(distances, [&](size_t distance) { return explains(sequence, distance); });
  if (period == distances.end()) return 0;
  size_t steps = 0;
  for (size_t begin = first_begin(sequence, *period); begin < sequence.symbols.size(); ++steps) {
    const size_t next = std::min(next_begin(sequence, begin, *period), sequence.symbols.size());
    for (size_t i = begin; i < next; ++i) trace.device[i].step = static_cast<uint32_t>(steps);
    begin = next;
  }
  return steps;
}

}  // namespace teapot::workbench::trace
