// The demo model's drafts agree as often as those of the reference (tests/data/demo_acceptance.json, torch in f32).
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "base/json.h"
#include "cpu/backend.h"
#include "engine/collecting_sink.h"
#include "engine/load_engine.h"
#include "engine/open_slots.h"
#include "engine/plan_cache.h"
#include "test_data.h"

namespace teapot::engine {
namespace {

constexpr uint32_t kDepth = 4;
constexpr double kPoint = 0.01;
constexpr size_t kEvery = 4;  // all of them take minutes where tests share two processors

std::vector<Json> questions() {
  const auto json = read_json_file(testing::test_data("demo_acceptance.json").string());
  EXPECT_TRUE(json) << json.error().message;
  std::vector<Json> some;
  for (size_t i = 0; json && i < (*json)["questions"].size(); i += kEvery) some.push_back((*json)["questions"][i]);
  return some;
}

// Whether the reference's draft at depth `depth`, made when reply token `at` was the last known one, is the reply's.
bool agrees(const Json& question, size_t depth, size_t at) { return question["agree"][depth].get_ref<const std::string&>()[at] == '1'; }

// Runs single sequences, a token at a time, with drafts after each.
class Drafter {
 public:
  Drafter(plan::Backend& backend, const model::Model& model) : backend_(backend), plans_(backend, model) {}

  void run(plan::PlanKind kind, plan::SlotId slot, const std::vector<int32_t>& tokens, uint32_t position, plan::StepKind rows) {
    const auto count = static_cast<uint32_t>(tokens.size());
    packet_ = {};
    packet_.tokens = tokens;
    packet_.sequences = {{slot, 0, count, position, rows}};
    packet_.returns.assign(count, plan::RowReturn::kNothing);
    if (kind == plan::PlanKind::kDraft) packet_.returns = {plan::RowReturn::kDraft};
    const auto plan = plans_.prepare({count, kind});
    ASSERT_TRUE(plan) << plan.error().message;
    const Status ran = backend_.run(*plan, packet_, result_);
    ASSERT_TRUE(ran) << ran.error().message;
  }

  // kDepth drafts after `token`, which stands at `position`, where the state is.
  std::array<int32_t, kDepth> drafts(plan::SlotId slot, int32_t token, uint32_t position) {
    std::array<int32_t, kDepth> ids{};
    for (uint32_t i = 0; i < kDepth; ++i) {
      run(plan::PlanKind::kDraft, slot, {i == 0 ? token : ids[i - 1]}, position + i, plan::StepKind::kDraft);
      ids[i] = result_.argmax.at(0);
      EXPECT_GT(result_.probability.at(0), 0);
    }
    return ids;
  }

 private:
  plan::Backend& backend_;
  PlanCache plans_;
  plan::StepPacket packet_;
  plan::StepResult result_;
};

TEST(DemoDrafts, AgreeByPositionAsOftenAsTheReferences) {
  TEAPOT_NEEDS(testing::demo_model());
  auto model = model::load_model(testing::demo_model().string());
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_TRUE(model->speculate(kDepth));
  auto backend = cpu::create_backend({.threads = 1, .bind = "off"});
  ASSERT_TRUE(backend) << backend.error().message;
  ASSERT_TRUE((*backend)->load(model->weights, model->layout, [](uint64_t, uint64_t) {}));
  Drafter drafter(**backend, *model);
  OpenSlots slots(**backend);
  std::array<double, kDepth> chances{}, agreed{}, expected_chances{}, expected{};
  for (const Json& question : questions()) {
    const auto prompt = question["prompt_ids"].get<std::vector<int32_t>>(), reply = question["reply_ids"].get<std::vector<int32_t>>();
    const auto slot = slots.open(static_cast<uint32_t>(prompt.size() + reply.size() + kDepth));
    ASSERT_TRUE(slot) << slot.error().message;
    drafter.run(plan::PlanKind::kModelMtp, *slot, prompt, 0, plan::StepKind::kPrefill);
    for (size_t at = 0; at + 1 < reply.size(); ++at) {
      const auto position = static_cast<uint32_t>(prompt.size() + at);
      const auto drafts = drafter.drafts(*slot, reply[at], position);
      for (size_t i = 0; i < kDepth && at + 1 + i < reply.size(); ++i) {
        ++chances[i];
        if (drafts[i] != reply[at + 1 + i]) break;
        ++agreed[i];
      }
      for (size_t i = 0; i < kDepth && at + 1 + i < reply.size(); ++i) {
        ++expected_chances[i];
        if (!agrees(question, i, at)) break;
        ++expected[i];
      }
      drafter.run(plan::PlanKind::kModelMtp, *slot, {reply[at]}, position, plan::StepKind::kDecode);
      if (HasFatalFailure()) return;
    }
  }
  for (size_t i = 0; i < kDepth; ++i) {
    EXPECT_NEAR(agreed[i] / chances[i], expected[i] / expected_chances[i], kPoint) << "position " << i + 1;
  }
}

// Tokens a round at a fixed depth, by the reference's drafts.
double expected_tokens(const std::vector<Json>& questions, uint32_t depth) {
  double rounds = 0, tokens = 0;
  for (const Json& question : questions) {
    const size_t reply = question["reply_ids"].size();
    for (size_t at = 0; at + 1 < reply;) {
      size_t held = 0;
      while (held < depth && at + 1 + held < reply && agrees(question, held, at)) ++held;
      ++rounds;
      tokens += static_cast<double>(held) + 1;
      at += held + 1;
    }
  }
  return tokens / rounds;
}

TEST(DemoDrafts, CommitAsManyTokensARoundAsTheReferences) {
  TEAPOT_NEEDS(testing::demo_model());
  const std::vector<Json> asked = questions();
  const auto loaded = load_engine(testing::demo_model().string(), {.backend = {.threads = 1, .bind = "off"}, .max_queue = 64}, true);
  ASSERT_TRUE(loaded) << loaded.error().message;
  std::vector<std::vector<int32_t>> replies;
  for (uint32_t depth = 0; depth <= kDepth; ++depth) {
    std::vector<std::shared_ptr<CollectingSink>> sinks;
    for (const Json& question : asked) {
      sinks.push_back(std::make_shared<CollectingSink>());
      GenerateRequest request;
      request.prompt = question["prompt_ids"].get<std::vector<int32_t>>();
      request.sampling.temperature = 0;
      request.max_tokens = static_cast<uint32_t>(question["reply_ids"].size());
      request.draft_depth = depth;
      const auto id = loaded->engine->submit(std::move(request), {sinks.back()});
      ASSERT_TRUE(id) << id.error().message;
    }
    DraftCounts drafts;
    for (size_t i = 0; i < sinks.size(); ++i) {
      drafts += sinks[i]->wait().timings.drafts;
      if (depth == 0) {
        replies.push_back(sinks[i]->ids());
      } else {
        EXPECT_EQ(sinks[i]->ids(), replies[i]) << "question " << i << " with " << depth << " drafts a step";
      }
    }
    if (depth == 0) continue;
    const uint64_t accepted = std::accumulate(drafts.accepted.begin(), drafts.accepted.end(), uint64_t{0});
    const double tokens = 1 + static_cast<double>(accepted) / static_cast<double>(drafts.rounds);
    EXPECT_NEAR(tokens, expected_tokens(asked, depth), kPoint) << depth << " drafts a step";
  }
}

}  // namespace
}  // namespace teapot::engine
