// Decode beside the memory roof of the same run: bytes that a token reads, over the time it takes, over the bandwidth that plain reads
// reach with as many threads. The two alternate, so that both see the same machine.
//
//   teapot_decode_bench MODEL [THREADS (2)] [ROUNDS (9)]
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>

#include "base/topology.h"
#include "cpu/arena.h"
#include "cpu/backend.h"
#include "cpu/thread_team.h"
#include "model/model.h"
#include "model/plan_writer.h"
#include "model/weight_bytes.h"

namespace teapot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kPrompt = 64;
constexpr int kTokensPerRound = 8;
constexpr size_t kReadBytes = size_t{2} << 30;  // no cache holds it

double seconds(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

__attribute__((target("avx2"))) uint64_t read_all(const std::byte* data, size_t bytes) {
  __m256i sums[8] = {};
  for (size_t i = 0; i < bytes; i += 256) {
    for (size_t j = 0; j < 8; ++j)
      sums[j] = _mm256_xor_si256(sums[j], _mm256_load_si256(reinterpret_cast<const __m256i*>(data + i + 32 * j)));
  }
  for (size_t j = 1; j < 8; ++j) sums[0] = _mm256_xor_si256(sums[0], sums[j]);
  return static_cast<uint64_t>(_mm256_extract_epi64(sums[0], 0));
}

struct Figures {
  double min, median, max;
};

Figures figures(std::vector<double> values) {
  std::ranges::sort(values);
  return {values.front(), values[values.size() / 2], values.back()};
}

Status run(const char* path, int threads, int rounds) {
  TEAPOT_TRY(const model::Model model, model::load_model(path));
  cpu::Options options;
  options.threads = threads;
  TEAPOT_TRY(const auto backend, cpu::create_backend(options));
  const auto load_start = Clock::now();
  uint64_t loaded = 0;
  TEAPOT_CHECK(backend->load(model.weights, model.layout, [&](uint64_t, uint64_t total) { loaded = total; }));
  fmt::print("load     {:.2f} GB in {:.2f} s, {:.2f} GB/s\n", static_cast<double>(loaded) / 1e9, seconds(load_start),
             static_cast<double>(loaded) / 1e9 / seconds(load_start));

  TEAPOT_TRY(const plan::PlanId prefill, backend->prepare(model::write_plan(model, {plan::StepKind::kPrefill, 1, kPrompt})));
  TEAPOT_TRY(const plan::PlanId decode, backend->prepare(model::write_plan(model, {plan::StepKind::kDecode, 1, 1})));
  const uint32_t tokens = kPrompt + static_cast<uint32_t>(rounds + 1) * kTokensPerRound;
  TEAPOT_TRY(const plan::SlotId slot, backend->open_slot(tokens));
  plan::StepPacket packet;
  plan::StepResult result;
  for (uint32_t i = 0; i < kPrompt; ++i) packet.tokens.push_back(static_cast<int32_t>(i * 37 % model.config.vocab));
  packet.sequences = {{slot, 0, kPrompt, 0}};
  packet.returns.assign(kPrompt, plan::RowReturn::kNothing);
  packet.returns.back() = plan::RowReturn::kArgmax;
  const auto prefill_start = Clock::now();
  TEAPOT_CHECK(backend->run(prefill, packet, result));
  fmt::print("prefill  {:.1f} tok/s ({} tokens)\n", kPrompt / seconds(prefill_start), kPrompt);

  std::vector<unsigned> cpus(static_cast<size_t>(threads));
  std::iota(cpus.begin(), cpus.end(), 0u);
  TEAPOT_TRY(const auto team, cpu::ThreadTeam::create(cpus.size(), cpus));
  TEAPOT_TRY(const cpu::Arena memory, cpu::Arena::reserve("the read test", kReadBytes, cpu::Pages::kThp));
  const size_t share = kReadBytes / cpus.size() / 256 * 256;
  team->run([&](size_t worker) { std::fill_n(memory.data() + worker * share, share, std::byte{1}); });

  const double bytes = static_cast<double>(model::bytes_read_per_token(model));
  std::vector<double> gbps, ms;
  uint64_t sink = 0;
  uint32_t position = kPrompt;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    const auto read_start = Clock::now();
    std::vector<uint64_t> sums(cpus.size() * 8);
    team->run([&](size_t worker) { sums[worker * 8] = read_all(memory.data() + worker * share, share); });
    const double bandwidth = static_cast<double>(share * cpus.size()) / seconds(read_start) / 1e9;
    sink += std::accumulate(sums.begin(), sums.end(), uint64_t{0});

    const auto decode_start = Clock::now();
    for (int i = 0; i < kTokensPerRound; ++i) {
      packet.tokens.assign(1, std::max(0, result.argmax.at(0)));
      packet.sequences = {{slot, 0, 1, position++}};
      packet.returns.assign(1, plan::RowReturn::kArgmax);
      TEAPOT_CHECK(backend->run(decode, packet, result));
    }
    if (round < 0) continue;
    gbps.push_back(bandwidth);
    ms.push_back(seconds(decode_start) * 1000 / kTokensPerRound);
  }
  const auto [slow, read, fast] = figures(gbps);
  const auto [best, middle, worst] = figures(ms);
  const double floor = bytes / read / 1e6;
  fmt::print("read     {:.1f} GB/s with {} threads (min {:.1f}, max {:.1f}; {})\n", read, threads, slow, fast, sink == 0 ? "even" : "odd");
  fmt::print(
      "decode   {:.2f} ms a token (min {:.2f}, max {:.2f}), {:.1f} MB read; floor {:.2f} ms, {:.0f} % of the roof (best round {:.0f} %)\n",
      middle, best, worst, bytes / 1e6, floor, 100 * floor / middle, 100 * floor / best);
  return {};
}

}  // namespace
}  // namespace teapot

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: teapot_decode_bench MODEL [THREADS] [ROUNDS]\n");
    return 2;
  }
  const teapot::Status status = teapot::run(argv[1], argc > 2 ? std::atoi(argv[2]) : 2, argc > 3 ? std::atoi(argv[3]) : 9);
  if (!status) fmt::print(stderr, "error: {}\n", status.error().message);
  return status ? 0 : 2;
}
