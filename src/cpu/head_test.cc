// What the head gives back of a row, against a full sort of the row's logits.
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "cpu/backend.h"
#include "cpu/every_kernel.h"
#include "cpu/tiny_model.h"

namespace teapot::cpu {
namespace {

using plan::RowReturn;

constexpr float kOut = -std::numeric_limits<float>::infinity();
constexpr uint32_t kVocab = TinyModel::kVocab;

std::vector<int32_t> random_tokens(size_t n) {
  std::mt19937 rng(1);
  std::vector<int32_t> tokens(n);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng() % kVocab);
  return tokens;
}

// Eight times the same forty rows: each logit has seven equals, in other tiles.
TinyModel model_with_ties(plan::WeightType type) {
  TinyModel model(type);
  plan::Matrix& embed = model.table.matrices[static_cast<size_t>(model.embed)];
  embed.runs.assign(8, {embed.runs[0].data, kVocab / 8});
  return model;
}

// Of the model nothing but its head: what comes before does not matter to it.
plan::Plan plan_of(const TinyModel& model, uint32_t rows) {
  plan::Plan plan = model.plan(rows);
  std::erase_if(plan.ops,
                [](const plan::Op& op) { return !std::holds_alternative<plan::Embed>(op) && !std::holds_alternative<plan::Head>(op); });
  return plan;
}

struct Runner {
  Runner(const TinyModel& tiny, const Options& options) : model(tiny) {
    auto created = create_backend(options);
    EXPECT_TRUE(created.has_value()) << created.error().message;
    backend = *std::move(created);
    EXPECT_TRUE(backend->load(model.table, model.layout, {}));
  }

  // Runs a packet whose rows are the first tokens of one sequence.
  Status run(plan::StepPacket packet) {
    const auto rows = static_cast<uint32_t>(packet.returns.size());
    if (plans.size() <= rows) plans.resize(rows + 1);
    if (!plans[rows]) plans[rows] = backend->prepare(plan_of(model, rows)).value();
    const plan::SlotId slot = backend->open_slot(rows).value();
    packet.tokens = random_tokens(rows);
    packet.sequences = {{slot, 0, rows, 0}};
    const Status status = backend->run(*plans[rows], packet, result);
    backend->close_slot(slot);
    return status;
  }

  const TinyModel& model;
  std::unique_ptr<plan::Backend> backend;
  std::vector<std::optional<plan::PlanId>> plans;
  plan::StepResult result;
};

// Raw logits of `rows` rows.
std::vector<std::vector<float>> all_logits(Runner& runner, size_t rows) {
  plan::StepPacket packet;
  packet.returns.assign(rows, RowReturn::kLogits);
  EXPECT_TRUE(runner.run(packet));
  std::vector<std::vector<float>> result;
  for (const auto& row : runner.result.logits) result.emplace_back(row.begin(), row.end());
  return result;
}

std::vector<plan::Candidate> ranked(std::vector<float> logits, const plan::StepPacket& packet, size_t row) {
  if (!packet.masks.empty() && packet.returns[row] != RowReturn::kLogits) {
    for (uint32_t i = 0; i < packet.masks[row].count; ++i) {
      const plan::LogitBias& bias = packet.biases[packet.masks[row].first + i];
      logits[static_cast<size_t>(bias.id)] += bias.bias;
    }
  }
  std::vector<plan::Candidate> result;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] > kOut) result.push_back({logits[id], static_cast<int32_t>(id)});
  }
  std::ranges::stable_sort(result, std::greater(), &plan::Candidate::logit);
  return result;
}

bool same(const plan::Candidate& a, const plan::Candidate& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

void expect_result(const plan::StepPacket& packet, const plan::StepResult& result, const std::vector<std::vector<float>>& logits) {
  size_t i = 0;
  for (size_t row = 0; row < packet.returns.size(); ++row) {
    const RowReturn asked = packet.returns[row];
    if (asked == RowReturn::kNothing) continue;
    ASSERT_LT(i, result.rows.size());
    EXPECT_EQ(result.rows[i], row);
    const std::vector<plan::Candidate> best = ranked(logits[row], packet, row);
    if (best.empty()) {
      EXPECT_EQ(result.argmax[i], -1);
      EXPECT_EQ(result.max[i], kOut);
      EXPECT_EQ(result.probability[i], 0);
    } else {
      EXPECT_TRUE(same({result.max[i], result.argmax[i]}, best[0])) << "row " << row << ": " << result.argmax[i] << ", " << best[0].id;
    }
    double sum = 0;
    for (const plan::Candidate& candidate : best) sum += std::exp(static_cast<double>(candidate.logit) - best[0].logit);
    EXPECT_NEAR(result.probability[i], asked == RowReturn::kDraft && !best.empty() ? 1 / sum : 0, 1e-6);
    const size_t count = asked == RowReturn::kTopK ? std::min<size_t>(packet.top_k, best.size()) : 0;
    ASSERT_EQ(result.top[i].size(), count);
    EXPECT_TRUE(std::equal(result.top[i].begin(), result.top[i].end(), best.begin(), same)) << "row " << row;
    ASSERT_EQ(result.logits[i].size(), asked == RowReturn::kLogits ? kVocab : 0);
    EXPECT_EQ(std::memcmp(result.logits[i].data(), logits[row].data(), result.logits[i].size_bytes()), 0);
    ++i;
  }
  EXPECT_EQ(i, result.rows.size());
  for (const size_t size : {result.argmax.size(), result.max.size(), result.probability.size(), result.top.size(), result.logits.size()}) {
    EXPECT_EQ(size, i);
  }
}

void append(plan::StepPacket& packet, size_t row, const std::vector<plan::LogitBias>& biases) {
  packet.masks[row] = {static_cast<uint32_t>(packet.biases.size()), static_cast<uint32_t>(biases.size())};
  packet.biases.insert(packet.biases.end(), biases.begin(), biases.end());
}

// Rows that ask for different things; no biases, the ids at the vocabulary's end out (a range that rows share), or biases of their own.
plan::StepPacket random_packet(std::mt19937& rng, size_t rows, uint32_t top_k) {
  plan::StepPacket packet;
  packet.top_k = top_k;
  for (size_t row = 0; row < rows; ++row) packet.returns.push_back(static_cast<RowReturn>(rng() % 5));
  if (rng() % 8 == 0) return packet;
  packet.masks.resize(rows);
  const uint32_t padding = 1 + static_cast<uint32_t>(rng() % 60);
  for (uint32_t id = kVocab - padding; id < kVocab; ++id) packet.biases.push_back({static_cast<int32_t>(id), kOut});
  for (size_t row = 0; row < rows; ++row) {
    switch (rng() % 3) {
      case 0:
        packet.masks[row] = {0, padding};
        break;
      case 1: {
        const unsigned one_in = 1 + static_cast<unsigned>(rng() % 20);
        std::vector<plan::LogitBias> own;
        for (uint32_t id = 0; id < kVocab; ++id) {
          if (rng() % one_in == 0) own.push_back({static_cast<int32_t>(id), rng() % 2 ? kOut : static_cast<float>(rng() % 9) - 4});
        }
        append(packet, row, own);
        break;
      }
      default:
        break;
    }
  }
  return packet;
}

class Head : public EveryKernel {
 protected:
  Options options(int threads = 2) const { return {.isa = isa(), .pages = "4k", .threads = threads, .bind = "off"}; }

  // By their names: how a step may be laid out, with the head's short and long way.
  std::vector<std::pair<std::string, Options>> ways() const {
    std::vector<std::pair<std::string, Options>> result;
    for (const char* const lmhead : {"argmax", "full"}) {
      const auto way = [&](const char* name, int threads) -> Options& {
        result.emplace_back(fmt::format("lmhead={}, {}", lmhead, name), options(threads));
        result.back().second.lmhead = lmhead;
        return result.back().second;
      };
      way("1 thread", 1);
      way("2 threads", 2);
      way("3 threads", 3);
      way("plan=dynamic", 2).plan = "dynamic";
      way("plan=eager", 3).plan = "eager";
      way("alloc=malloc", 2).alloc = "malloc";
      way("sync=op", 3).sync = "op";
    }
    return result;
  }
};

TEST_P(Head, GivesTheBestOfTheLogitsWhateverTheLayout) {
  const TinyModel model = model_with_ties(type());
  Runner reference(model, options(1));
  std::vector<std::vector<std::vector<float>>> logits;
  for (size_t rows = 1; rows <= 8; ++rows) logits.push_back(all_logits(reference, rows));
  for (const auto& [name, way] : ways()) {
    SCOPED_TRACE(name);
    Runner runner(model, way);
    std::mt19937 rng(3);
    for (size_t rows = 1; rows <= 8; ++rows) {
      for (const uint32_t top_k : {1u, 5u, plan::kMaxTopK}) {
        SCOPED_TRACE(fmt::format("{} rows, top {}", rows, top_k));
        const plan::StepPacket packet = random_packet(rng, rows, top_k);
        const Status status = runner.run(packet);
        ASSERT_TRUE(status.has_value()) << status.error().message;
        expect_result(packet, runner.result, logits[rows - 1]);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Head, FewerIdsThanWantedOrNoneAtAll) {
  const TinyModel model(type());
  Runner reference(model, options(1));
  const auto logits = all_logits(reference, 4);
  std::vector<plan::LogitBias> all, most;
  for (int32_t id = 0; id < static_cast<int32_t>(kVocab); ++id) {
    all.push_back({id, kOut});
    if (id % 100 != 7) most.push_back({id, kOut});  // 7, 107, 207 and 307 are left
  }
  plan::StepPacket packet;
  packet.returns = {RowReturn::kTopK, RowReturn::kDraft, RowReturn::kTopK, RowReturn::kDraft};
  packet.top_k = 5;
  packet.masks.resize(4);
  append(packet, 0, all);
  append(packet, 2, most);
  packet.masks[1] = packet.masks[0];
  packet.masks[3] = packet.masks[2];
  for (const auto& [name, way] : ways()) {
    SCOPED_TRACE(name);
    Runner runner(model, way);
    ASSERT_TRUE(runner.run(packet));
    EXPECT_EQ(runner.result.top[0].size(), 0u);
    EXPECT_EQ(runner.result.top[2].size(), 4u);
    expect_result(packet, runner.result, logits);
  }
}

TEST_P(Head, ANanAmongTheLogitsLeavesNothing) {
  TinyModel model(type());
  plan::Matrix& embed = model.table.matrices[static_cast<size_t>(model.embed)];
  // All bits set is a NaN in every type's values or scales.
  const std::vector<std::byte> nan(row_bytes(type(), embed.cols), std::byte{0xff});
  const uint32_t first = embed.runs[0].rows, second = embed.runs[1].rows;
  for (const bool at_end : {false, true}) {
    TinyModel broken = model;
    const std::byte* const rest = embed.runs[1].data;
    auto& runs = broken.table.matrices[static_cast<size_t>(model.embed)].runs;
    if (at_end) {
      runs = {embed.runs[0], {rest, second - 1}, {nan.data(), 1}};
    } else {
      runs = {embed.runs[0], {nan.data(), 1}, {rest, second - 1}};
    }
    const auto id = static_cast<int32_t>(at_end ? kVocab - 1 : first);
    plan::StepPacket packet;
    packet.returns = {RowReturn::kTopK, RowReturn::kDraft, RowReturn::kLogits, RowReturn::kTopK};
    packet.top_k = 5;
    packet.masks.resize(4);
    append(packet, 3, {{id, kOut}});  // a NaN is not hidden by taking its id out
    for (const auto& [name, way] : ways()) {
      SCOPED_TRACE(name);
      Runner runner(broken, way);
      ASSERT_TRUE(runner.run(packet));
      for (size_t row = 0; row < 4; ++row) {
        EXPECT_EQ(runner.result.argmax[row], -1);
        EXPECT_TRUE(std::isnan(runner.result.max[row]));
        EXPECT_TRUE(runner.result.top[row].empty());
      }
      EXPECT_TRUE(std::isnan(runner.result.logits[2][static_cast<size_t>(id)]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Head,
                         testing::Combine(all_instruction_sets(), testing::Values(plan::WeightType::kF32, plan::WeightType::kBF16,
                                                                                  plan::WeightType::kQ8_0, plan::WeightType::kQ4_K)),
                         kernel_name);

TEST(HeadErrors, PacketsThatAskForTheImpossibleAreRefused) {
  const TinyModel model(plan::WeightType::kF32);
  Runner runner(model, {.isa = "scalar", .pages = "4k", .threads = 1, .bind = "off"});
  const auto message = [&](const std::function<void(plan::StepPacket&)>& spoil) {
    plan::StepPacket packet;
    packet.returns = {RowReturn::kTopK, RowReturn::kArgmax, RowReturn::kNothing};
    packet.top_k = 3;
    packet.biases = {{1, 2.0f}, {5, kOut}, {3, 1.0f}, {4, 1.0f}};
    packet.masks = {{0, 2}, {2, 2}, {}};
    spoil(packet);
    const Status status = runner.run(packet);
    EXPECT_TRUE(status || status.error().kind == ErrorKind::kInternal);
    return status ? std::string("accepted") : status.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "accepted");
  EXPECT_EQ(message([](auto& p) { p.top_k = plan::kMaxTopK; }), "accepted");
  EXPECT_EQ(message([](auto& p) { p.masks.clear(); }), "accepted");
  EXPECT_EQ(message([](auto& p) { p.masks[2] = {4, 0}; }), "accepted");
  EXPECT_EQ(message([](auto& p) { p.returns[0] = RowReturn::kArgmax, p.top_k = 0; }), "accepted");
  EXPECT_EQ(message([](auto& p) { p.top_k = 0; }), "packet: top_k is 0; expected 1 to 64");
  EXPECT_EQ(message([](auto& p) { p.top_k = 65; }), "packet: top_k is 65; expected 1 to 64");
  EXPECT_EQ(message([](auto& p) { p.masks.pop_back(); }), "packet of 2 masks for 3 rows");
  EXPECT_EQ(message([](auto& p) { p.masks[1] = {3, 2}; }), "packet: biases 3 to 5 of a row, of 4");
  EXPECT_EQ(message([](auto& p) { p.masks[2] = {1, 0xffffffff}; }), "packet: biases 1 to 4294967296 of a row, of 4");
  EXPECT_EQ(message([](auto& p) { p.masks[1] = {1, 2}; }), "packet: a bias of id 3 after 5; expected rising ids below 320");
  EXPECT_EQ(message([](auto& p) { p.biases[1].id = 1; }), "packet: a bias of id 1 after 1; expected rising ids below 320");
  EXPECT_EQ(message([](auto& p) { p.biases[1].id = 320; }), "packet: a bias of id 320 after 1; expected rising ids below 320");
  EXPECT_EQ(message([](auto& p) { p.biases[0].id = -1; }), "packet: a bias of id -1 after -1; expected rising ids below 320");
  EXPECT_EQ(message([](auto& p) { p.biases[0].bias = INFINITY; }), "packet: the bias of id 1 is inf");
  EXPECT_EQ(message([](auto& p) { p.biases[0].bias = NAN; }), "packet: the bias of id 1 is nan");
}

}  // namespace
}  // namespace teapot::cpu
