// The same request gives the same bits, whatever shares the machine, whatever the prefix cache holds: tokens and log-probabilities of
// engines on the demo model, compared with a request that runs alone in a fresh one.
#include "engine/exactness_testing.h"

#include <limits>
#include <thread>

namespace teapot::engine {
namespace {

TEST_F(Exactness, NeighboursChangeNothing) {
  const auto requests = kinds(words);
  const auto alone = plain();
  std::vector<Reply> expected;
  for (const GenerateRequest& wanted : requests) expected.push_back(run(*alone, wanted));
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const SchedulerOptions& options : {SchedulerOptions{.max_seqs = 8},
                                          {.max_seqs = 8, .prefill_chunk = 16, .tpot_stretch = 1.25, .prefix_cache = false},
                                          {.max_seqs = 3, .prefill_chunk = 64, .tpot_stretch = kInf},
                                          {.max_seqs = 5, .tpot_stretch = 4, .logits_mask = LogitsMask::kRebuild},
                                          {.max_seqs = 2, .prefill_chunk = 1}}) {
    const auto busy = engine(options);
    for (int round = 0; round < 3; ++round) {
      std::vector<std::shared_ptr<CollectingSink>> sinks;
      for (size_t i = 0; i < requests.size(); ++i) {
        sinks.push_back(std::make_shared<CollectingSink>());
        ASSERT_TRUE(busy->submit(requests[(i * 3 + static_cast<size_t>(round)) % 8], {sinks.back()}));
        std::this_thread::sleep_for(std::chrono::milliseconds(round * static_cast<int>(i) % 7));
      }
      for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_TRUE(reply_of(*sinks[i]).same(expected[(i * 3 + static_cast<size_t>(round)) % 8])) << "round " << round << ", request " << i;
      }
    }
    EXPECT_EQ(busy->load().running, 0u);
  }
}

// Prompts that end near borders of pages and checkpoints, twice, and one that goes on from each.
TEST_F(Exactness, AWarmCacheChangesNothing) {
  const auto cold = plain(), warm = engine({.max_seqs = 2});
  const std::vector<int32_t> text = words(1, 1200);
  const auto first = [&](size_t count) { return std::vector<int32_t>(text.begin(), text.begin() + static_cast<ptrdiff_t>(count)); };
  for (const size_t border : {0, 256, 512, 1024}) {
    for (size_t suffix = border == 0 ? 1 : 0; suffix <= 32; ++suffix) {
      const GenerateRequest wanted = request(first(border + suffix), 3);
      const Reply expected = run(*cold, wanted);
      for (int i = 0; i < 2; ++i) {
        const Reply reply = run(*warm, wanted);
        EXPECT_TRUE(reply.same(expected)) << border << " + " << suffix << ", " << reply.cached << " cached";
      }
    }
  }
  EXPECT_GT(warm->status().cache_hits, 30u * 1000);
}

TEST_F(Exactness, GoingBackToAnEarlierPromptChangesNothing) {
  const auto cold = plain(), warm = engine({.max_seqs = 2});
  std::vector<int32_t> shared = words(1, 530);
  const auto with = [&](uint32_t seed, size_t count) {
    std::vector<int32_t> prompt = shared;
    const std::vector<int32_t> more = words(seed, count);
    prompt.insert(prompt.end(), more.begin(), more.end());
    return request(prompt, 20);
  };
  const GenerateRequest a = with(2, 70), b = with(3, 9);
  const Reply expected_a = run(*cold, a), expected_b = run(*cold, b);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run(*warm, a).same(expected_a));
    EXPECT_TRUE(run(*warm, b).same(expected_b));
  }
}

// The reply becomes part of the next prompt, as in a chat; with a budget for a few states only, so that others push them out.
TEST_F(Exactness, EvictionChangesNothing) {
  const auto cold = plain();
  const uint64_t state = cold->status().kv_page_bytes;
  for (const uint64_t budget : {uint64_t{0}, 3 * state, 12 * state, 60 * state}) {
    const auto warm = engine({.max_seqs = 3, .cache_bytes = budget});
    std::vector<std::vector<int32_t>> talks;
    for (uint32_t i = 0; i < 4; ++i) talks.push_back(words(i, 100 + 150 * i));
    for (int turn = 0; turn < 5; ++turn) {
      for (std::vector<int32_t>& talk : talks) {
        GenerateRequest wanted = request(talk, 10);
        wanted.message_end = static_cast<uint32_t>(talk.size()) - 4;
        const Reply reply = run(*warm, wanted);
        EXPECT_TRUE(reply.same(run(*cold, wanted)));
        talk.insert(talk.end(), reply.ids.begin(), reply.ids.end());
        const std::vector<int32_t> more = words(static_cast<uint32_t>(turn) + 50, 7);
        talk.insert(talk.end(), more.begin(), more.end());
        EXPECT_LE(warm->status().cache_used, budget);
      }
    }
    if (budget == 0) {
      EXPECT_EQ(warm->status().cache_hits, 0u);
    }
  }
}

TEST_F(Exactness, ASecondTurnComputesOnlyWhatIsNew) {
  const auto warm = engine({.max_seqs = 2});
  std::vector<int32_t> talk = words(9, 40);
  GenerateRequest wanted = request(talk, 12);
  wanted.message_end = 36;
  const Reply first = run(*warm, wanted);
  EXPECT_EQ(first.cached, 0u);
  // As the reply was given: all but its last token, which was never read back.
  std::vector<int32_t> next = talk;
  next.insert(next.end(), first.ids.begin(), first.ids.end());
  next.push_back(3);
  EXPECT_EQ(run(*warm, request(next)).cached, 40u + 11);
  // The template has rewritten the reply: from before the generation prompt.
  std::vector<int32_t> rewritten(talk.begin(), talk.begin() + 36);
  const std::vector<int32_t> other = words(77, 20);
  rewritten.insert(rewritten.end(), other.begin(), other.end());
  EXPECT_EQ(run(*warm, request(rewritten)).cached, 36u);
  warm->reset_prefix_cache();
  EXPECT_EQ(run(*warm, request(next)).cached, 0u);
}

// Eight at the same moment with one long beginning: it is computed once.
TEST_F(Exactness, ABeginningThatManyShareIsComputedOnce) {
  const auto cold = plain(), warm = engine({.max_seqs = 8, .prefill_chunk = 64});
  const std::vector<int32_t> shared = words(1, 700);
  std::vector<GenerateRequest> requests;
  for (uint32_t i = 0; i < 8; ++i) {
    std::vector<int32_t> prompt = shared;
    const std::vector<int32_t> more = words(100 + i, 20 + i);
    prompt.insert(prompt.end(), more.begin(), more.end());
    requests.push_back(request(prompt, 8));
  }
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (const GenerateRequest& wanted : requests) {
    sinks.push_back(std::make_shared<CollectingSink>());
    ASSERT_TRUE(warm->submit(wanted, {sinks.back()}));
  }
  for (size_t i = 0; i < 8; ++i) EXPECT_TRUE(reply_of(*sinks[i]).same(run(*cold, requests[i]))) << i;
  EXPECT_LE(warm->status().prefilled_tokens, 700u + 8 * 27 + 64);  // the others come while the first may have had a piece
}

TEST_F(Exactness, WhoWaitsForAnothersPromptGoesOnWhenThatIsCancelled) {
  const auto cold = plain(), warm = engine({.max_seqs = 4, .prefill_chunk = 8});
  std::vector<int32_t> prompt = words(1, 900);
  const GenerateRequest leader = request(prompt);
  prompt.back() ^= 1;
  const GenerateRequest follower = request(prompt), third = request(prompt, 12);
  const auto first = std::make_shared<CollectingSink>(), second = std::make_shared<CollectingSink>(),
             last = std::make_shared<CollectingSink>();
  const auto id = warm->submit(leader, {first});
  ASSERT_TRUE(id);
  ASSERT_TRUE(warm->submit(follower, {second}));
  ASSERT_TRUE(warm->submit(third, {last}));
  warm->cancel(*id);
  EXPECT_EQ(first->wait().reason, FinishReason::kCancelled);
  EXPECT_TRUE(reply_of(*second).same(run(*cold, follower)));
  EXPECT_TRUE(reply_of(*last).same(run(*cold, third)));
}

TEST_F(Exactness, ChoicesShareThePromptAndTheFirstIsTheOneAlone) {
  const auto alone = plain(), several = engine({.max_seqs = 4});
  GenerateRequest wanted = request(words(3, 300), 16);
  wanted.sampling = {.temperature = 1, .seed = 11};
  const Reply expected = run(*alone, wanted);
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (int i = 0; i < 4; ++i) sinks.push_back(std::make_shared<CollectingSink>());
  ASSERT_TRUE(several->submit(wanted, {sinks.begin(), sinks.end()}));
  EXPECT_TRUE(reply_of(*sinks[0]).same(expected));
  for (int i = 1; i < 4; ++i) EXPECT_NE(reply_of(*sinks[static_cast<size_t>(i)]).ids, expected.ids);
  EXPECT_EQ(several->status().prefilled_tokens, 300u);
}

TEST_F(Exactness, QuantisedWeightsToo) {
  const auto alone = plain("q8_0"), busy = engine({.max_seqs = 6}, "q8_0");
  const auto requests = kinds(words);
  std::vector<std::shared_ptr<CollectingSink>> sinks;
  for (int round = 0; round < 2; ++round) {
    for (const GenerateRequest& wanted : requests) {
      sinks.push_back(std::make_shared<CollectingSink>());
      ASSERT_TRUE(busy->submit(wanted, {sinks.back()}));
    }
  }
  for (size_t i = 0; i < sinks.size(); ++i) EXPECT_TRUE(reply_of(*sinks[i]).same(run(*alone, requests[i % 8]))) << i;
}

}  // namespace
}  // namespace teapot::engine
