// Random requests over a real backend that drafts: conversations on common beginnings that share steps, draft rightly and wrongly to any
// depth, leave, and go on from states that were kept. Each reply must be, bit for bit, what its request gets alone and without drafts.
#include <random>
#include <thread>

#include "engine/exactness_testing.h"
#include "engine/golden_testing.h"

namespace teapot::engine {
namespace {

constexpr int32_t kIds = 510;  // of the model's 512 rows; the others are taken to have no token

class Talks {
 public:
  explicit Talks(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<uint32_t>(values.size()))];
  }

  std::vector<int32_t> text(size_t tokens) {
    std::vector<int32_t> ids(tokens);
    for (int32_t& id : ids) id = static_cast<int32_t>(below(kIds));
    return ids;
  }

  // Goes on from what was said somewhere, or begins with a length around the ends of pages and checkpoints.
  GenerateRequest request(const std::vector<std::vector<int32_t>>& said) {
    GenerateRequest wanted;
    if (!said.empty() && below(4) > 0) {
      const std::vector<int32_t>& old = said[below(static_cast<uint32_t>(said.size()))];
      wanted.prompt.assign(old.begin(), old.end() - static_cast<ptrdiff_t>(below(3) == 0 ? below(static_cast<uint32_t>(old.size())) : 0));
    }
    const std::vector<int32_t> more =
        text(wanted.prompt.empty() ? one_of({1u, 20u, 243u, 250u, 256u, 500u, 512u}) + below(8) : 1 + below(30));
    wanted.prompt.insert(wanted.prompt.end(), more.begin(), more.end());
    if (wanted.prompt.size() > 700) wanted.prompt.resize(1 + below(300));
    wanted.max_tokens = 1 + below(below(3) == 0 ? 60 : 12);
    wanted.ignore_eos = below(2) == 0;
    wanted.sampling = {.temperature = one_of({0.0f, 0.0f, 0.7f, 1.3f}), .top_k = one_of({0, 0, 3, 40}), .top_p = one_of({1.0f, 0.8f})};
    wanted.sampling.seed = random_();
    if (below(5) == 0) wanted.sampling.presence_penalty = 1;
    if (below(6) == 0) wanted.sampling.repetition_penalty = 1.4f;
    if (below(5) == 0) wanted.sampling.logit_bias = {{static_cast<int32_t>(below(kIds)), -100.0f}, {3, 2.0f}};
    if (below(4) == 0) wanted.min_tokens = below(wanted.max_tokens + 1);
    if (below(4) == 0) wanted.stop_token_ids = text(40);
    if (below(3) == 0) wanted.top_logprobs = below(4);
    if (below(3) == 0) wanted.message_end = 1 + below(static_cast<uint32_t>(wanted.prompt.size()));
    return wanted;
  }

 private:
  std::mt19937_64 random_;
};

std::unique_ptr<Engine> engine(const cpu::Options& backend, const SchedulerOptions& scheduler, std::optional<uint32_t> mtp) {
  auto model = model::load_model(golden::folder("moe_v36").string());
  EXPECT_TRUE(model) << model.error().message;
  auto made = Engine::create(
      *std::move(model), {kIds, kIds + 1},
      {.backend = backend, .context = 800, .warmup = 0, .require_plan = backend.plan == "static", .scheduler = scheduler, .mtp = mtp},
      [](uint64_t, uint64_t) {});
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

struct Talk {
  GenerateRequest request;
  Reply alone;
};

Reply ask(Engine& on, const GenerateRequest& wanted) {
  const auto sink = std::make_shared<CollectingSink>();
  const auto id = on.submit(wanted, {sink});
  EXPECT_TRUE(id) << id.error().message;
  return id ? reply_of(*sink) : Reply{};
}

// What each request of a backend gets alone.
std::vector<Talk> talks_alone(const cpu::Options& backend, uint32_t count, Talks& talks) {
  const auto alone = engine(backend, {.max_seqs = 1, .prefix_cache = false}, 0);
  std::vector<Talk> all;
  std::vector<std::vector<int32_t>> said;
  for (uint32_t i = 0; i < count; ++i) {
    const GenerateRequest wanted = talks.request(said);
    all.push_back({wanted, ask(*alone, wanted)});
    said.push_back(wanted.prompt);
    const std::vector<int32_t>& ids = all.back().alone.ids;
    said.back().insert(said.back().end(), ids.begin(), ids.end());
  }
  return all;
}

// Drafts that hold as often as they are told to, by what the replies are known to be.
class Drafter {
 public:
  Drafter(const std::vector<Talk>& talks, uint32_t held_of_8) : talks_(talks), held_of_8_(held_of_8) {}

  int32_t operator()(const Draft& draft) {
    const std::lock_guard lock(mutex_);
    const auto talk = asked_.find(draft.request);
    if (talk == asked_.end()) return draft.id;
    const auto& [request, alone] = talks_[talk->second];
    const size_t at = draft.position - request.prompt.size();
    const uint32_t luck = (draft.position * 2654435761u ^ static_cast<uint32_t>(draft.request) * 40503u) >> 7;
    if (luck % 97 == 0) return -1;
    if (at >= alone.ids.size()) return draft.id;
    return luck % 8 < held_of_8_ ? alone.ids[at] : alone.ids[at] ^ 1;
  }

  // No draft of the request is made before it is known.
  template <class Submit>
  auto ask(size_t talk, Submit&& submit) {
    const std::lock_guard lock(mutex_);
    auto id = submit();
    if (id) asked_[static_cast<uint64_t>(*id)] = talk;
    return id;
  }

 private:
  const std::vector<Talk>& talks_;
  const uint32_t held_of_8_;
  std::mutex mutex_;
  std::map<uint64_t, size_t> asked_;  // guarded by mutex_
};

void expect_begins_as(const Reply& reply, const Reply& alone, const std::string& what) {
  ASSERT_LE(reply.ids.size(), alone.ids.size()) << what;
  EXPECT_TRUE(std::equal(reply.ids.begin(), reply.ids.end(), alone.ids.begin())) << what;
  ASSERT_LE(reply.logprobs.size(), alone.logprobs.size()) << what;
  EXPECT_TRUE(std::equal(reply.logprobs.begin(), reply.logprobs.end(), alone.logprobs.begin())) << what;
}

// One engine with settings of its own; rounds of requests that are there at a time, some of which leave.
void run_engine(Talks& talks, const std::vector<Talk>& all, const cpu::Options& numerics, uint32_t rounds, const std::string& what) {
  cpu::Options backend = numerics;
  backend.threads = 1 + static_cast<int>(talks.below(3));
  backend.wait = talks.one_of({"futex", "spin-futex"});
  backend.plan = talks.one_of({"static", "static", "dynamic", "eager"});
  backend.gdn = talks.one_of({"fused", "split"});
  backend.sync = talks.one_of({"flags", "layer", "op"});
  backend.lmhead = talks.one_of({"argmax", "full"});
  backend.attn = talks.one_of({"auto", "split", "head"});
  SchedulerOptions scheduler{.max_seqs = 1 + talks.below(8),
                             .prefill_chunk = talks.one_of({5u, 32u, 100u, 512u}),
                             .tpot_stretch = talks.one_of({1.25, 2.0, std::numeric_limits<double>::infinity()}),
                             .prefix_cache = talks.below(5) > 0,
                             .cache_bytes = talks.one_of<uint64_t>({200'000, 1'000'000, 50'000'000}),
                             .logits_mask = talks.one_of({LogitsMask::kInline, LogitsMask::kRebuild})};
  Drafter drafter(all, talks.below(9));
  const bool own = talks.below(4) == 0;
  if (!own) scheduler.replace_draft = [&](const Draft& draft) { return drafter(draft); };
  const std::optional<uint32_t> mtp = talks.below(4) == 0 ? std::nullopt : std::optional<uint32_t>(1 + talks.below(kMaxDrafts));
  const auto drafting = engine(backend, scheduler, mtp);
  for (uint32_t round = 0; round < rounds; ++round) {
    struct Asked {
      size_t talk;
      std::vector<std::shared_ptr<CollectingSink>> sinks;
      bool leaves;
    };
    std::vector<Asked> asked;
    for (uint32_t left = 1 + talks.below(2 * scheduler.max_seqs); left > 0; --left) {
      Asked& one = asked.emplace_back(Asked{talks.below(static_cast<uint32_t>(all.size())), {}, talks.below(5) == 0});
      GenerateRequest wanted = all[one.talk].request;
      if (talks.below(2) == 0) wanted.draft_depth = talks.below(drafting->draft_limit() + 1);
      // Choices of a greedy request are all the same.
      const uint32_t choices = wanted.sampling.temperature == 0 ? 1 + talks.below(std::min(3u, scheduler.max_seqs)) : 1;
      for (uint32_t i = 0; i < choices; ++i) one.sinks.push_back(std::make_shared<CollectingSink>());
      const uint32_t stay = talks.below(6);
      if (one.leaves) one.sinks[0]->during_token = [stay](size_t tokens) { return tokens < stay; };
      const auto id = drafter.ask(one.talk, [&] { return drafting->submit(wanted, {one.sinks.begin(), one.sinks.end()}); });
      ASSERT_TRUE(id) << id.error().message;
      if (one.leaves && talks.below(2) == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(talks.below(3000)));
        drafting->cancel(*id);
      }
    }
    for (const Asked& one : asked) {
      for (const auto& sink : one.sinks) {
        const Reply reply = reply_of(*sink);
        const std::string where =
            fmt::format("{}, mtp {}, round {}, request {}", what, mtp ? fmt::format("{}", *mtp) : "auto", round, one.talk);
        expect_begins_as(reply, all[one.talk].alone, where);
        EXPECT_NE(reply.reason, FinishReason::kError) << where;
        EXPECT_TRUE(one.leaves || reply.same(all[one.talk].alone)) << where;
      }
    }
    if (talks.below(6) == 0) drafting->reset_prefix_cache();
  }
}

TEST(SpeculationAtRandom, RepliesAreThoseOfARequestAloneWithoutDrafts) {
  const char* const wished = std::getenv("TEAPOT_TALKS");  // seeds; more than a test has time for
  const uint32_t seeds = wished == nullptr ? 2 : static_cast<uint32_t>(std::atoi(wished));
  ASSERT_GT(seeds, 0u) << "TEAPOT_TALKS is no number of seeds: " << wished;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    Talks talks(seed + 1);
    cpu::Options numerics{.kv_dtype = talks.one_of({"f16", "f32", "bf16"}), .pages = "4k", .threads = 1, .bind = "off"};
    numerics.prepack = talks.one_of({"on", "off"});
    if (seed % 3 == 2) numerics.isa = "scalar";
    const std::vector<Talk> all = talks_alone(numerics, 16, talks);
    for (uint32_t i = 0; i < 2; ++i) {
      run_engine(talks, all, numerics, 5, fmt::format("seed {}, engine {}", seed, i));
      ASSERT_FALSE(HasFailure()) << "a reply is not what its request got alone: see above";
    }
  }
}

}  // namespace
}  // namespace teapot::engine
