// However a step is laid out, synchronised and placed, its bits are the same; and static steps meet as rarely as the data allows.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <map>

#include "cpu/backend.h"
#include "cpu/isa.h"
#include "cpu/tiny_model.h"

namespace teapot::cpu {
namespace {

std::unique_ptr<plan::Backend> backend_for(const TinyModel& model, const Options& options) {
  auto backend = create_backend(options);
  EXPECT_TRUE(backend.has_value()) << backend.error().message;
  const Status loaded = (*backend)->load(model.table, model.layout, {});
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  return *std::move(backend);
}

// Two sequences: a prompt of 9 and of 11 tokens in one step, then four decode steps. All logits and the states after.
std::vector<float> outputs(const TinyModel& model, const Options& options) {
  const auto backend = backend_for(model, options);
  std::vector<float> out;
  const plan::PlanId prefill = *backend->prepare(model.plan(20)), decode = *backend->prepare(model.plan(2));
  const plan::SlotId slots[] = {*backend->open_slot(32), *backend->open_slot(32)};
  plan::StepResult result;
  const auto run = [&](plan::PlanId id, plan::StepPacket packet) {
    packet.returns.assign(packet.tokens.size(), plan::RowReturn::kLogits);
    const Status status = backend->run(id, packet, result);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    for (const auto& row : result.logits) out.insert(out.end(), row.begin(), row.end());
  };
  plan::StepPacket prompts{{}, {{slots[0], 0, 9, 0}, {slots[1], 9, 11, 0}}, {}};
  for (int32_t i = 0; i < 20; ++i) prompts.tokens.push_back(i * 7 % static_cast<int32_t>(TinyModel::kVocab));
  run(prefill, prompts);
  for (uint32_t i = 0; i < 4; ++i) run(decode, {{5, 9}, {{slots[0], 0, 1, 9 + i}, {slots[1], 1, 1, 11 + i}}, {}});
  for (const plan::SlotId slot : slots) {
    const plan::StateSnapshot state = backend->snapshot(slot, 0);
    out.insert(out.end(), state.recurrent.begin(), state.recurrent.end());
    out.insert(out.end(), state.conv.begin(), state.conv.end());
  }
  return out;
}

Options base() { return {.isa = "avx2", .pages = "4k", .threads = 2, .bind = "off"}; }

bool host_has_avx2() { return select_kernels("avx2").has_value(); }

TEST(PlanModes, EveryWayOfExecutionGivesTheSameBits) {
  if (!host_has_avx2()) GTEST_SKIP() << "no avx2";
  const TinyModel model(plan::WeightType::kQ4_K);
  const std::vector<float> expected = outputs(model, base());
  std::map<std::string, Options> ways;
  const auto way = [&](const std::string& name) -> Options& { return ways.emplace(name, base()).first->second; };
  way("plan=dynamic").plan = "dynamic";
  way("plan=eager").plan = "eager";
  way("sync=op").sync = "op";
  way("sync=layer").sync = "layer";
  way("shared-expert=serial").shared_expert = "serial";
  way("gdn=split").gdn = "split";
  way("attn=head").attn = "head";
  way("attn=split").attn = "split";
  way("lmhead=full").lmhead = "full";
  way("prefetch=off").prefetch = "off";
  way("prefetch=shared").prefetch = "shared";
  way("prefetch=routed").prefetch = "routed";
  way("alloc=malloc").alloc = "malloc";
  way("wait=futex").wait = "futex";
  way("wait=spin").wait = "spin";
  way("pages=best").pages = "best";
  way("one thread").threads = 1;
  way("three threads").threads = 3;
  Options& plain = way("all off");
  plain = {.isa = "avx2",
           .pages = "4k",
           .threads = 2,
           .bind = "off",
           .wait = "futex",
           .plan = "eager",
           .sync = "op",
           .shared_expert = "serial",
           .gdn = "split",
           .attn = "head",
           .lmhead = "full",
           .prefetch = "off",
           .alloc = "malloc"};
  for (const auto& [name, options] : ways) {
    const std::vector<float> got = outputs(model, options);
    ASSERT_EQ(got.size(), expected.size()) << name;
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0) << name;
  }
}

// Runs one decode step of so many sequences and returns the phases of worker 0, op by op; gates: with those that end at a gate.
std::map<std::string, std::vector<std::string>> phases(const Options& options, uint16_t sequences, bool gates) {
  const TinyModel model(plan::WeightType::kQ8_0);
  const auto backend = backend_for(model, options);
  const auto plan = backend->prepare(model.plan(sequences));
  plan::StepPacket packet;
  for (uint16_t i = 0; i < sequences; ++i) {
    packet.tokens.push_back(i);
    packet.sequences.push_back({*backend->open_slot(8), i, 1, 0});
    packet.returns.push_back(plan::RowReturn::kArgmax);
  }
  plan::StepResult result;
  const Status status = backend->run(*plan, packet, result);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  plan::StepTrace trace;
  backend->trace(trace);
  const std::vector<std::string> ops = backend->op_names(*plan);
  EXPECT_EQ(trace.dropped, 0u);
  EXPECT_LE(trace.began, trace.ended);
  EXPECT_GE(backend->shares().waiting, 0);
  EXPECT_LE(backend->shares().waiting, 1);
  std::map<std::string, std::vector<std::string>> result_phases;
  uint64_t before = trace.began;
  for (const plan::Span& span : trace.workers.at(0)) {
    EXPECT_LE(before, span.began);
    EXPECT_LE(span.began, span.arrived);
    EXPECT_LE(span.arrived, span.released);
    before = span.released;
    const bool gate = options.sync == "flags" && (std::string(span.phase) == "rows" || std::string(span.phase) == "choose");
    if (gates || !gate) result_phases[ops.at(span.op)].push_back(span.phase);
  }
  EXPECT_LE(before, trace.ended);
  for (const auto& spans : trace.workers) EXPECT_EQ(spans.size(), trace.workers[0].size());
  return result_phases;
}

// Each phase ends with the one barrier that its readers need. Layer 0 is GDN + experts, layer 1 attention + dense.
TEST(PlanModes, BarriersOfALayer) {
  if (!host_has_avx2()) GTEST_SKIP() << "no avx2";
  using Phases = std::vector<std::string>;
  for (const auto& [sync, sequences] :
       std::vector<std::pair<std::string, uint16_t>>{{"flags", 1}, {"flags", 4}, {"flags", 8}, {"layer", 1}, {"layer", 8}}) {
    Options options = base();
    options.sync = sync;
    auto all = phases(options, sequences, false);
    EXPECT_EQ(all["norm_project 0"], Phases{"project"});
    EXPECT_EQ(all["gdn_step 0"], Phases{"heads"});
    EXPECT_EQ(all["project_residual 0"], Phases{"project"});
    EXPECT_EQ(all["moe 0"], (Phases{"router, shared", "experts", "down"}));
    EXPECT_EQ(all["norm_project 1"], Phases{"project"});
    EXPECT_EQ(all["attend 0"], Phases{"attend"});
    EXPECT_EQ(all["project_residual 1"], Phases{"project"});
    EXPECT_EQ(all["mlp 0"], (Phases{"gate, up", "down"}));
    EXPECT_EQ(all["head 0"], Phases{"vocabulary"});
    size_t barriers = 0;
    for (const auto& [op, names] : all) barriers += names.size();
    EXPECT_EQ(barriers, 1u + 6 + 5 + 1);  // embed, the layers, head
  }
}

TEST(PlanModes, RowsOfManySequencesAreSharedOut) {
  if (!host_has_avx2()) GTEST_SKIP() << "no avx2";
  auto all = phases(base(), 4, true);
  using Phases = std::vector<std::string>;
  EXPECT_EQ(all["moe 0"], (Phases{"rows", "router, shared", "choose", "experts", "down"}));
  EXPECT_EQ(all["head 0"], (Phases{"rows", "vocabulary"}));
}

TEST(PlanModes, SyncOpMeetsAfterEveryPieceOfWork) {
  if (!host_has_avx2()) GTEST_SKIP() << "no avx2";
  Options options = base();
  options.sync = "op";
  auto all = phases(options, 1, true);
  using Phases = std::vector<std::string>;
  EXPECT_EQ(all["moe 0"], (Phases{"rows", "router, shared", "choose", "experts", "down"}));
}

}  // namespace
}  // namespace teapot::cpu
