// Drafts of the MTP layer against the reference: after each token of the prompt, and chains of them.
#include "cpu/backend.h"
#include "engine/golden_testing.h"
#include "engine/plan_cache.h"

namespace teapot::engine {
namespace {

constexpr double kTolerance = 1e-5;
constexpr uint32_t kPrompt = 37;  // before the chain

class MtpGolden : public ::testing::TestWithParam<golden::Case> {
 protected:
  void SetUp() override {
    TEAPOT_NEEDS(golden::file(GetParam().file));
    TEAPOT_NEEDS_ISA(GetParam().isa);
    auto model = model::load_model(golden::model_path(GetParam().file).string());
    ASSERT_TRUE(model) << model.error().message;
    model_ = *std::move(model);
    const Status speculates = model_.speculate(3);
    ASSERT_TRUE(speculates) << speculates.error().message;
    auto backend = cpu::create_backend(golden::exact(GetParam().isa));
    ASSERT_TRUE(backend) << backend.error().message;
    backend_ = *std::move(backend);
    ASSERT_TRUE(backend_->load(model_.weights, model_.layout, [](uint64_t, uint64_t) {}));
    plans_.emplace(*backend_, model_);
    ids_ = values("ids");
    slot_ = backend_->open_slot(static_cast<uint32_t>(ids_.size()) + 1).value();
  }

  std::string name(const std::string& array) const { return GetParam().model + "/golden/" + array + ".npy"; }
  std::vector<int32_t> values(const std::string& array) const { return golden::integers(name(array)); }

  // The logits of the last row.
  std::vector<float> step(plan::PlanKind kind, std::vector<int32_t> tokens, uint32_t position) {
    const auto rows = static_cast<uint32_t>(tokens.size());
    const auto plan = plans_->get({rows, kind});
    EXPECT_TRUE(plan) << plan.error().message;
    plan::StepPacket packet{std::move(tokens), {{slot_, 0, rows, position}}, {rows, plan::RowReturn::kNothing}};
    packet.returns.back() = plan::RowReturn::kLogits;
    const Status status = backend_->run(*plan, packet, result_);
    EXPECT_TRUE(status) << status.error().message;
    return status ? std::vector<float>(result_.logits[0].begin(), result_.logits[0].end()) : std::vector<float>();
  }
  void expect_near(std::span<const float> logits, const std::string& array) const {
    EXPECT_LE(golden::relative_error(logits, golden::floats(name(array))), kTolerance);
  }

  model::Model model_;
  std::unique_ptr<plan::Backend> backend_;
  std::optional<PlanCache> plans_;
  plan::StepResult result_;
  std::vector<int32_t> ids_;
  plan::SlotId slot_{};
};

TEST_P(MtpGolden, DraftsAfterEachTokenAgreeWithTheReference) {
  std::vector<float> logits;
  for (uint32_t t = 0; t + 1 < ids_.size(); ++t) {
    step(plan::PlanKind::kModelMtp, {ids_[t]}, t);
    const std::vector<float> draft = step(plan::PlanKind::kDraft, {ids_[t + 1]}, t + 1);
    logits.insert(logits.end(), draft.begin(), draft.end());
  }
  expect_near(logits, "mtp_logits");
}

TEST_P(MtpGolden, ChainsAgreeWithTheReference) {
  step(plan::PlanKind::kModelMtp, {ids_.begin(), ids_.begin() + kPrompt}, 0);
  std::vector<int32_t> chain = {values("greedy")[0]};
  std::vector<float> logits;
  for (uint32_t ahead = 0; ahead < 3; ++ahead) {
    const std::vector<float> draft = step(plan::PlanKind::kDraft, {chain.back()}, kPrompt + ahead);
    logits.insert(logits.end(), draft.begin(), draft.end());
    chain.push_back(result_.argmax[0]);
  }
  chain.erase(chain.begin());
  EXPECT_EQ(chain, values("mtp_chain"));
  expect_near(logits, "mtp_chain_logits");
}

INSTANTIATE_TEST_SUITE_P(HuggingFace, MtpGolden,
                         ::testing::ValuesIn(golden::cases({{"moe_r2/config.json", "moe_r2"},
                                                            {"dense_r1/config.json", "dense_r1"},
                                                            {"dense_r3/config.json", "dense_r3"},
                                                            {"qwen3_next/config.json", "qwen3_next"},
                                                            {"moe_v36/config.json", "moe_v36"}})),
                         golden::name_of);
INSTANTIATE_TEST_SUITE_P(Gguf, MtpGolden,
                         ::testing::ValuesIn(golden::cases({{"moe_r2/model-F32.gguf", "moe_r2"},
                                                            {"dense_r1/model-F32.gguf", "dense_r1"},
                                                            {"dense_r3/model-F32.gguf", "dense_r3"}})),
                         golden::name_of);

}  // namespace
}  // namespace teapot::engine
