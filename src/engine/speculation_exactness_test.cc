// Drafts change no bit of a reply: engines that speculate in all ways, compared with one that does not.
#include <map>

#include "engine/exactness_testing.h"
#include "engine/golden_testing.h"

namespace teapot::engine {
namespace {

using SpeculationExactness = Exactness;

// Sends all to both engines, the plain one by one.
void expect_equal(Engine& plain, Engine& drafting, const std::vector<GenerateRequest>& requests, const std::string& what) {
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (const GenerateRequest& wanted : requests) {
    sinks.push_back(std::make_shared<CollectingSink>());
    const auto id = drafting.submit(wanted, {sinks.back()});
    ASSERT_TRUE(id) << id.error().message;
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    GenerateRequest wanted = requests[i];
    wanted.draft_depth = std::nullopt;
    const auto sink = std::make_shared<CollectingSink>();
    ASSERT_TRUE(plain.submit(wanted, {sink}));
    EXPECT_TRUE(reply_of(*sinks[i]).same(reply_of(*sink))) << what << ", request " << i;
  }
}

TEST_F(SpeculationExactness, AnyDepthGivesTheSameBits) {
  const auto alone = plain();
  for (uint32_t depth = 1; depth <= kMaxDrafts + 1; ++depth) {
    const std::optional<uint32_t> mtp = depth > kMaxDrafts ? std::nullopt : std::optional(depth);
    const auto drafting = engine({.max_seqs = 1 + depth % 8, .prefill_chunk = 32 * depth}, "file", mtp);
    for (int round = 0; round < 2; ++round) expect_equal(*alone, *drafting, kinds(words), fmt::format("depth {}", depth));
    EXPECT_EQ(drafting->status().plan_misses, 0u);
  }
}

TEST_F(SpeculationExactness, SequencesOfAllDepthsTogether) {
  const auto alone = plain(), drafting = engine({.max_seqs = 8, .prefill_chunk = 40, .tpot_stretch = 1.5}, "file", kMaxDrafts);
  for (uint32_t shift = 0; shift < 3; ++shift) {
    std::vector<GenerateRequest> requests = kinds(words);
    for (uint32_t i = 0; i < requests.size(); ++i) requests[i].draft_depth = (i * 5 + shift) % (kMaxDrafts + 1);
    expect_equal(*alone, *drafting, requests, fmt::format("shift {}", shift));
  }
}

TEST_F(SpeculationExactness, OnEveryInstructionSetAndWeightFormat) {
  for (const std::string isa : {"scalar", "avx2", "avx512", "avx512vnni", "amx"}) {
    if (!golden::runs_here(isa)) continue;
    for (const std::string weights : {"file", "q8_0", "q4_k"}) {
      if (isa == "scalar" && weights != "q8_0") continue;  // minutes
      const cpu::Options backend{.isa = isa, .threads = 2, .bind = "off"};
      const auto alone = plain(weights, backend), drafting = engine({.max_seqs = 4}, weights, 3, backend);
      expect_equal(*alone, *drafting, kinds(words), isa + " " + weights);
    }
  }
}

// True drafts up to some place in a round, then wrong ones; the place changes from token to token, so that each number of them is accepted
// at each position around the borders of pages and checkpoints. Who goes on from there finds the states.
TEST_F(SpeculationExactness, EachAcceptedCountAtEachPosition) {
  const auto alone = plain();
  constexpr uint32_t kDepth = 5, kReply = 24;
  for (const uint32_t border : {256u, 512u}) {
    for (uint32_t shift = 0; shift <= kDepth; ++shift) {
      const std::vector<int32_t> prompt = words(shift, border - 12);
      const Reply expected = run(*alone, request(prompt, kReply));
      SchedulerOptions options{.max_seqs = 2};
      options.replace_draft = [&](const Draft& draft) {
        const size_t at = draft.position - prompt.size();
        const uint32_t held = (draft.position - draft.index + shift) % (kDepth + 1);
        const int32_t right = at < expected.ids.size() ? expected.ids[at] : 0;
        return draft.index < held ? right : right ^ 1;
      };
      const auto drafting = engine(options, "file", kDepth);
      const Reply reply = run(*drafting, request(prompt, kReply));
      EXPECT_TRUE(reply.same(expected)) << border << ", shift " << shift;
      std::vector<int32_t> next = prompt;
      next.insert(next.end(), reply.ids.begin(), reply.ids.end());
      const Reply after = run(*drafting, request(next, 8)), cold = run(*alone, request(next, 8));
      EXPECT_TRUE(after.same(cold)) << border << ", shift " << shift;
      EXPECT_EQ(after.cached, next.size() - 1);
    }
  }
}

TEST_F(SpeculationExactness, DraftersThatAreRightWrongOrSilent) {
  const auto alone = plain();
  const std::vector<int32_t> prompt = words(4, 90);
  const Reply expected = run(*alone, request(prompt, 60));
  const auto right = [&](const Draft& draft) {
    const size_t at = draft.position - prompt.size();
    return at < expected.ids.size() ? expected.ids[at] : 0;
  };
  const std::vector<std::function<int32_t(const Draft&)>> drafters = {
      right, [&](const Draft& draft) { return right(draft) ^ 1; },
      [&](const Draft& draft) { return (draft.position - draft.index) % 2 == 0 ? right(draft) : -1; },
      [&](const Draft& draft) { return draft.position % 7 == 0 ? -1 : right(draft) ^ static_cast<int32_t>(draft.position % 3 == 0); }};
  for (size_t i = 0; i < drafters.size(); ++i) {
    for (const std::optional<uint32_t> mtp : {std::optional<uint32_t>(4), std::optional<uint32_t>()}) {
      SchedulerOptions options{.max_seqs = 2};
      options.replace_draft = drafters[i];
      const auto drafting = engine(options, "file", mtp);
      const auto sink = std::make_shared<CollectingSink>();
      ASSERT_TRUE(drafting->submit(request(prompt, 60), {sink}));
      EXPECT_TRUE(reply_of(*sink).same(expected)) << "drafter " << i;
      const DraftCounts& drafts = sink->wait().timings.drafts;
      if (i == 0 && mtp) {
        EXPECT_EQ(drafts.accepted, drafts.drafted);
      }
      if (i == 1) {
        EXPECT_EQ(drafts.accepted[0], 0u);
      }
    }
  }
}

TEST_F(SpeculationExactness, AWarmCacheChangesNothing) {
  const auto alone = plain(), warm = engine({.max_seqs = 2}, "file", 3);
  const std::vector<int32_t> text = words(1, 1100);
  for (const size_t border : {256, 512, 1024}) {
    for (const size_t suffix : {0, 1, 2, 3, 15, 31, 32, 33}) {
      const auto tokens = static_cast<ptrdiff_t>(border + suffix);
      const GenerateRequest wanted = request({text.begin(), text.begin() + tokens}, 9);
      const Reply expected = run(*alone, wanted);
      for (int i = 0; i < 2; ++i) EXPECT_TRUE(run(*warm, wanted).same(expected)) << tokens;
    }
  }
  EXPECT_GT(warm->status().cache_hits, 10'000u);
}

TEST_F(SpeculationExactness, ChoicesDraftEachForItself) {
  const auto alone = plain(), several = engine({.max_seqs = 4}, "file", 4);
  GenerateRequest wanted = request(words(3, 300), 40);
  wanted.sampling = {.temperature = 0.7f, .seed = 11};
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (int i = 0; i < 4; ++i) sinks.push_back(std::make_shared<CollectingSink>());
  ASSERT_TRUE(several->submit(wanted, {sinks.begin(), sinks.end()}));
  const auto together = engine({.max_seqs = 4, .prefix_cache = false}, "file", 0);
  std::vector<std::shared_ptr<CollectingSink>> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(std::make_shared<CollectingSink>());
  ASSERT_TRUE(together->submit(wanted, {expected.begin(), expected.end()}));
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(reply_of(*sinks[i]).same(reply_of(*expected[i]))) << "choice " << i;
}

// What a draft can say changes what is drafted, and nothing else: a single group of ids, too.
TEST_F(SpeculationExactness, AnyDraftVocabularyGivesTheSameBits) {
  const auto alone = plain();
  for (const auto& [wanted, active] : std::map<uint32_t, std::string>{{0, "full"}, {1, "16"}, {16, "16"}, {100, "112"}, {4090, "full"}}) {
    auto model = model::load_model(testing::demo_model().string());
    ASSERT_TRUE(model);
    const auto drafting = Engine::create(*std::move(model), {}, {.backend = {.threads = 1, .bind = "off"}, .mtp = 3, .draft_vocab = wanted},
                                         [](uint64_t, uint64_t) {});
    ASSERT_TRUE(drafting) << wanted << ": " << drafting.error().message;
    expect_equal(*alone, **drafting, kinds(words), fmt::format("{} ids", wanted));
    const auto switches = (*drafting)->switches();
    const auto report = std::ranges::find(switches, "draft-vocab", &plan::SwitchReport::name);
    ASSERT_TRUE(report != switches.end());
    EXPECT_EQ(report->active, active);
  }
}

}  // namespace
}  // namespace teapot::engine
