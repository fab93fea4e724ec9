#include "workbench/speed.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "engine/open_slots.h"
#include "engine/plan_cache.h"
#include "workbench/allocations.h"
#include "workbench/figures.h"
#include "workbench/prompt_token.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kWarmupSteps = 4;
constexpr uint64_t kSpareBytes = uint64_t{512} << 20;  // beside states and working set: plans, page tables, the system

// FNV-1a.
class Hash {
 public:
  template <class T>
  void add(std::span<T> values) {
    for (const std::byte byte : std::as_bytes(values)) value_ = (value_ ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

rusage usage() {
  rusage result{};
  getrusage(RUSAGE_SELF, &result);
  return result;
}

// The host's roof, measured with the backend's own threads.
class RoofMeter {
 public:
  static Result<RoofMeter> create(plan::Backend& backend, const WorkingSet& set, std::string_view isa) {
    const Crew crew = Crew::of(backend);
    const std::vector<ArithmeticKernel> kernels = arithmetic_kernels();
    const bool tiles = isa == "amx" && std::ranges::any_of(kernels, [](const auto& k) { return k.kind == Arithmetic::kInt8Tiles; });
    TEAPOT_TRY(ReadMeter reader, ReadMeter::create(crew, set));
    TEAPOT_TRY(const ReadKernel read, reader.fastest(crew.size));
    const ArithmeticKernel& vector = arithmetic_of(kernels, Arithmetic::kInt8, isa);
    return RoofMeter{crew,   std::move(reader),
                     read,   tiles ? arithmetic_of(kernels, Arithmetic::kInt8Tiles, isa) : vector,
                     vector, arithmetic_of(kernels, Arithmetic::kF32, isa)};
  }

  Result<RoofSample> sample() {
    RoofSample sample;
    TEAPOT_TRY(sample.read_gbs, reader.pass(read, crew.size));
    TEAPOT_TRY(sample.int8_gmacs, peak_gmacs(crew, int8));
    sample.int8_vector_gmacs = sample.int8_gmacs;
    if (int8.kind == Arithmetic::kInt8Tiles) {
      TEAPOT_TRY(sample.int8_vector_gmacs, peak_gmacs(crew, vector));
    }
    TEAPOT_TRY(sample.f32_gmacs, peak_gmacs(crew, f32));
    history.push_back(sample);
    return sample;
  }

  RoofSample middle() const {
    const auto of = [this](double RoofSample::* figure) {
      std::vector<double> values;
      for (const RoofSample& sample : history) values.push_back(sample.*figure);
      return median(std::move(values));
    };
    return {of(&RoofSample::read_gbs), of(&RoofSample::int8_gmacs), of(&RoofSample::int8_vector_gmacs), of(&RoofSample::f32_gmacs)};
  }

  Crew crew;
  ReadMeter reader;
  ReadKernel read;
  ArithmeticKernel int8, vector, f32;
  std::vector<RoofSample> history = {};
};

RoofSample between(const RoofSample& a, const RoofSample& b) {
  return {(a.read_gbs + b.read_gbs) / 2, (a.int8_gmacs + b.int8_gmacs) / 2, (a.int8_vector_gmacs + b.int8_vector_gmacs) / 2,
          (a.f32_gmacs + b.f32_gmacs) / 2};
}

class Bench {
 public:
  Bench(const model::Model& model, plan::Backend& backend, const SpeedOptions& options, RoofMeter& roof)
      : vocab_(model.config.vocab), backend_(backend), options_(options), roof_(roof), plans_(backend, model) {}

  // Plans and scratch memory of prefill steps are there before the first is timed.
  Status warm_up() {
    engine::OpenSlots slots(backend_);
    TEAPOT_CHECK(slots.open(options_.prompt));
    double seconds = 0;
    return prefill(slots.ids()[0], 0, seconds);
  }

  Result<DecodeSpeed> run(uint32_t c) {
    engine::OpenSlots slots(backend_);
    const uint32_t steps = kWarmupSteps + options_.repeat * options_.gen + 1;
    for (uint32_t s = 0; s < c; ++s) TEAPOT_CHECK(slots.open(options_.prompt + steps));
    TEAPOT_CHECK(prefill_all(slots.ids()));

    speed_ = {};
    speed_.c = c;
    tokens_ = Hash();
    waits_ = 0;
    TEAPOT_CHECK(begin_decode(slots.ids()));
    for (uint32_t i = 0; i < kWarmupSteps; ++i) {
      double seconds = 0;
      TEAPOT_CHECK(decode_step(seconds));
    }
    TEAPOT_CHECK(rounds());
    TEAPOT_CHECK(last_logits());
    speed_.token_hash = tokens_.value();
    speed_.barrier_wait_share = waits_ / static_cast<double>(speed_.steps);
    return speed_;
  }

  PrefillSpeed prefill_speed() const {
    return {options_.prompt, static_cast<uint32_t>(prefill_tok_s_.size()), Spread::of(prefill_tok_s_), Spread::of(prefill_peak_),
            Spread::of(prefill_vector_peak_)};
  }

 private:
  // One sequence's prompt; leaves its first generated token in result_. seconds: of the steps alone.
  Status prefill(plan::SlotId slot, uint32_t sequence, double& seconds) {
    prefill_traffic_ = {};
    for (uint32_t first = 0; first < options_.prompt; first += options_.prefill_chunk) {
      const uint32_t rows = std::min(options_.prefill_chunk, options_.prompt - first);
      TEAPOT_TRY(const plan::PlanId plan, plans_.get({rows}));
      packet_.tokens.clear();
      for (uint32_t i = 0; i < rows; ++i) packet_.tokens.push_back(prompt_token(sequence, first + i, vocab_));
      packet_.sequences = {{slot, 0, rows, first}};
      packet_.returns.assign(rows, plan::RowReturn::kNothing);
      if (first + rows == options_.prompt) packet_.returns.back() = plan::RowReturn::kArgmax;
      const auto start = Clock::now();
      TEAPOT_CHECK(backend_.run(plan, packet_, result_));
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
      backend_.traffic(traffic_);
      for (const plan::OpTraffic& op : traffic_) prefill_traffic_ += op;
    }
    return {};
  }

  Status prefill_all(const std::vector<plan::SlotId>& slots) {
    next_.clear();
    TEAPOT_TRY(RoofSample before, roof_.sample());
    for (uint32_t s = 0; s < slots.size(); ++s) {
      double seconds = 0;
      TEAPOT_CHECK(prefill(slots[s], s, seconds));
      next_.push_back(std::max(0, result_.argmax.at(0)));
      TEAPOT_TRY(const RoofSample after, roof_.sample());
      prefill_tok_s_.push_back(options_.prompt / seconds);
      const RoofSample roof = between(before, after);
      prefill_peak_.push_back(roof.floor(prefill_traffic_).arithmetic_ms / seconds / 10);  // ms / s -> %
      prefill_vector_peak_.push_back(roof.without_tiles().floor(prefill_traffic_).arithmetic_ms / seconds / 10);
      before = after;
    }
    return {};
  }

  Status begin_decode(const std::vector<plan::SlotId>& slots) {
    const auto c = static_cast<uint32_t>(slots.size());
    shape_ = {c};
    TEAPOT_CHECK(plans_.get(shape_));  // warmed, like the steps below
    packet_.sequences.clear();
    for (uint32_t s = 0; s < c; ++s) packet_.sequences.push_back({slots[s], s, 1, options_.prompt});
    packet_.returns.assign(c, plan::RowReturn::kArgmax);
    packet_.tokens = next_;
    return {};
  }

  Status decode_step(double& seconds) {
    const auto start = Clock::now();
    TEAPOT_TRY(const plan::PlanId plan, plans_.get(shape_));
    TEAPOT_CHECK(backend_.run(plan, packet_, result_));
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
    for (size_t row = 0; row < packet_.tokens.size(); ++row) {
      if (result_.argmax[row] < 0) return fail(ErrorKind::kInternal, "a logit of sequence {} is NaN", row);
      packet_.tokens[row] = result_.argmax[row];
      ++packet_.sequences[row].position;
    }
    tokens_.add(std::span<const int32_t>(packet_.tokens));
    return {};
  }

  // As decode_step, with everything counted that a step should not do.
  Status counted_step(double& seconds) {
    const rusage before = usage();
    const uint64_t hits = plans_.hits(), misses = plans_.misses();
    {
      const AllocationCount allocations;
      TEAPOT_CHECK(decode_step(seconds));
      speed_.allocations += allocations.count();
    }
    const rusage after = usage();
    ++speed_.steps;
    speed_.plan_hits += plans_.hits() - hits;
    speed_.plan_misses += plans_.misses() - misses;
    speed_.minor_faults += static_cast<uint64_t>(after.ru_minflt - before.ru_minflt);
    speed_.major_faults += static_cast<uint64_t>(after.ru_majflt - before.ru_majflt);
    speed_.voluntary_switches += static_cast<uint64_t>(after.ru_nvcsw - before.ru_nvcsw);
    speed_.involuntary_switches += static_cast<uint64_t>(after.ru_nivcsw - before.ru_nivcsw);
    waits_ += backend_.shares().waiting;
    return {};
  }

  Status rounds() {
    std::vector<double> ms, floor_ms, bytes_ms, arithmetic_ms, roof_percent;
    PartTraffic total{};
    TEAPOT_TRY(RoofSample before, roof_.sample());
    for (uint32_t round = 0; round < options_.repeat; ++round) {
      double seconds = 0;
      plan::OpTraffic traffic;
      for (uint32_t i = 0; i < options_.gen; ++i) {
        TEAPOT_CHECK(counted_step(seconds));
        backend_.traffic(traffic_);
        for (const plan::OpTraffic& op : traffic_) {
          traffic += op;
          total[static_cast<size_t>(op.part)] += op;
        }
      }
      TEAPOT_TRY(const RoofSample after, roof_.sample());
      const Floor floor = between(before, after).floor(traffic);
      before = after;
      ms.push_back(seconds * 1000 / options_.gen);
      floor_ms.push_back(floor.ms() / options_.gen);
      bytes_ms.push_back(floor.bytes_ms / options_.gen);
      arithmetic_ms.push_back(floor.arithmetic_ms / options_.gen);
      roof_percent.push_back(100 * floor_ms.back() / ms.back());
    }
    speed_.ms = Spread::of(ms);
    speed_.floor_ms = Spread::of(floor_ms);
    speed_.roof_percent = Spread::of(roof_percent);
    speed_.floor = {median(bytes_ms), median(arithmetic_ms)};
    add_parts(total);
    return {};
  }

  void add_parts(const PartTraffic& total) {
    const RoofSample roof = roof_.middle();
    double by_arithmetic = 0;
    for (size_t part = 0; part < total.size(); ++part) {
      plan::OpTraffic& mean = speed_.parts[part];
      mean = total[part];
      for (uint64_t* figure : {&mean.weight_bytes, &mean.state_bytes, &mean.kv_bytes, &mean.int8_macs, &mean.f32_macs}) {
        *figure /= speed_.steps;
      }
      const Floor floor = roof.floor(mean);
      speed_.parts_floor_ms += floor.ms();
      if (!floor.by_bytes()) by_arithmetic += floor.ms();
    }
    speed_.arithmetic_share = by_arithmetic / speed_.parts_floor_ms;
  }

  Status last_logits() {
    packet_.returns.assign(packet_.tokens.size(), plan::RowReturn::kLogits);
    TEAPOT_TRY(const plan::PlanId plan, plans_.get(shape_));
    TEAPOT_CHECK(backend_.run(plan, packet_, result_));
    Hash hash;
    for (const std::span<float> logits : result_.logits) hash.add(logits);
    speed_.logits_hash = hash.value();
    return {};
  }

  const uint32_t vocab_;
  plan::Backend& backend_;
  const SpeedOptions& options_;
  RoofMeter& roof_;
  engine::PlanCache plans_;
  plan::StepShape shape_{};
  plan::StepPacket packet_;
  plan::StepResult result_;
  std::vector<int32_t> next_;  // [sequences]: what follows the prompts
  std::vector<plan::OpTraffic> traffic_;
  plan::OpTraffic prefill_traffic_;
  std::vector<double> prefill_tok_s_, prefill_peak_, prefill_vector_peak_;  // [prompts]
  DecodeSpeed speed_;
  Hash tokens_;
  double waits_ = 0;  // sum of the timed steps' shares
};

Status check(const SpeedOptions& options) {
  if (options.concurrency.empty() || options.prompt == 0 || options.gen == 0 || options.repeat == 0 || options.prefill_chunk == 0) {
    return fail(ErrorKind::kInvalid,
                "speed: at least one number of sequences, one token of prompt, one step, one round and chunks of one token");
  }
  for (const uint32_t c : options.concurrency) {
    if (c == 0 || c > 0xffff) return fail(ErrorKind::kInvalid, "speed: {} sequences, expected 1 to {}", c, 0xffff);
  }
  return {};
}

}  // namespace

Floor RoofSample::floor(const plan::OpTraffic& traffic) const {
  return {static_cast<double>(traffic.bytes()) / read_gbs / 1e6,
          static_cast<double>(traffic.int8_macs) / int8_gmacs / 1e6 + static_cast<double>(traffic.f32_macs) / f32_gmacs / 1e6};
}

RoofSample RoofSample::without_tiles() const {
  RoofSample result = *this;
  result.int8_gmacs = int8_vector_gmacs;
  return result;
}

Result<Speed> measure_speed(const model::Model& model, plan::Backend& backend, const SpeedOptions& options,
                            const std::function<void(const std::string& what)>& progress) {
  TEAPOT_CHECK(check(options));
  Speed speed;
  speed.options = options;
  speed.model = model.path;
  speed.levers = backend.switches();
  std::string isa;
  for (const plan::SwitchReport& lever : speed.levers) {
    if (lever.name == "isa") isa = lever.active;
  }
  progress("the roof");
  const uint32_t tokens = options.prompt + kWarmupSteps + options.gen * options.repeat + 1;
  speed.working_set.bytes = options.read_bytes;
  if (options.read_bytes == 0) {
    TEAPOT_TRY(speed.working_set, choose_working_set(kSpareBytes + backend.state_bytes(tokens) * std::ranges::max(options.concurrency)));
  }
  TEAPOT_TRY(RoofMeter roof, RoofMeter::create(backend, speed.working_set, isa));
  speed.read_kernel = roof.read.name;
  speed.int8_kernel = roof.int8.name;
  speed.f32_kernel = roof.f32.name;

  Bench bench(model, backend, options, roof);
  TEAPOT_CHECK(bench.warm_up());
  for (const uint32_t c : options.concurrency) {
    progress(fmt::format("{} sequence{}", c, c == 1 ? "" : "s"));
    TEAPOT_TRY(DecodeSpeed decode, bench.run(c));
    speed.decode.push_back(decode);
  }
  speed.prefill = bench.prefill_speed();
  speed.roof = roof.middle();
  return speed;
}

}  // namespace teapot::workbench
