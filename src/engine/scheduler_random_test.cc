// Many random events over a scheduler: whatever shares a step, waits, leaves or fails, each reply is what its request demands, and no
// slot, page, seat or byte is lost.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

#include "base/log.h"
#include "engine/fake_server.h"

namespace teapot::engine {
namespace {

constexpr int32_t kNan = 63;  // gives NaN, and is never sampled
constexpr uint32_t kLongestPrompt = 700, kLongestReply = 30;

// Knows when it must not be called.
class Ear : public ReplySink {
 public:
  explicit Ear(size_t stop_after) : stop_after_(stop_after) {}
  bool on_token(const TokenEvent& event) override {
    EXPECT_FALSE(finish) << "a token after the end";
    EXPECT_FALSE(stopped()) << "a token after the stop";
    tokens.push_back(event.id);
    return !stopped();
  }
  void on_prompt_logprobs(const std::vector<TokenEvent>& events) override {
    EXPECT_TRUE(tokens.empty() && scored.empty());
    for (const TokenEvent& event : events) scored.push_back(event.id);
  }
  void on_finish(const Finish& end) override {
    EXPECT_FALSE(finish) << "a second end";
    finish = end;
  }
  bool stopped() const { return stop_after_ > 0 && tokens.size() >= stop_after_; }

  Tokens tokens, scored;
  std::optional<Finish> finish;

 private:
  size_t stop_after_;
};

struct Asked {
  uint64_t id = 0;
  GenerateRequest request;
  std::vector<std::shared_ptr<Ear>> ears = {};
  uint64_t deadline = 0;  // the step in which it must have ended, at the latest
  bool cancelled = false;

  uint32_t room() const { return static_cast<uint32_t>(request.prompt.size()) + request.max_tokens; }
  bool ended() const {
    return std::ranges::all_of(ears, [](const auto& ear) { return ear->finish.has_value(); });
  }
  bool must_fail() const {
    const Tokens& prompt = request.prompt;
    return prompt.back() == kNan || (request.prompt_logprobs && std::ranges::find(prompt, kNan) != prompt.end());
  }
};

class Begun : public EngineObserver {
 public:
  void on_step(const StepRecord&) override {}
  void on_prompt(const PromptRecord& prompt) override { EXPECT_TRUE(requests.insert(prompt.request).second); }
  void on_token(double) override {}
  void on_reply(const ReplyRecord&) override {}
  void on_stall(double) override {}

  std::set<uint64_t> requests;
};

Vocabulary vocabulary() { return {.rows = FakeBackend::kVocab, .unsampled = {60, 61, 62, kNan}, .stops = {5}}; }

class World {
 public:
  explicit World(uint32_t seed)
      : random_(seed),
        faults_(below(2) == 0),
        forks_fail_(faults_ && below(4) == 0),
        options_(options()),
        server_(options_),
        alone_({.scheduler = {.max_seqs = 4, .prefill_chunk = 1024, .prefix_cache = false}, .vocabulary = vocabulary()}) {}

  void event() {
    const uint32_t dice = below(1000);
    if (dice < 110) {
      submit();
    } else if (dice < 125) {
      if (!live_.empty()) cancel(live_[below(static_cast<uint32_t>(live_.size()))]);
    } else if (dice < 127) {
      server_.scheduler.reset_prefix_cache();
    } else if (dice < 132 && faults_) {
      fault();
    } else {
      step();
    }
  }

  void recount() const { server_.backend.states().check(); }

  void finish() {
    if (below(4) == 0) {
      server_.queue().close();
      for (Asked& asked : live_) asked.cancelled = true;
      server_.step();
      server_.scheduler.close();
    } else {
      server_.run();
    }
    deliver();
    EXPECT_TRUE(live_.empty());
    EXPECT_EQ(server_.scheduler.running(), 0u);
    server_.scheduler.reset_prefix_cache();
    server_.step();
    server_.check_idle();
    EXPECT_EQ(server_.backend.usage().pages, 0u);
    EXPECT_EQ(server_.backend.usage().slots, 0u);
  }

  uint64_t replies() const { return replies_; }
  uint64_t hits() const { return server_.scheduler.status().cache_hits; }
  std::string text() const {
    const SchedulerOptions& s = options_.scheduler;
    return fmt::format("{} sequences, chunk {}, stretch {}, cache {}, recurrent {}, faults {}, drafts {} of {}", s.max_seqs,
                       s.prefill_chunk, s.tpot_stretch, options_.budget.cache, options_.backend.sizes.recurrent, faults_,
                       s.draft_depth ? fmt::format("{}", *s.draft_depth) : "auto", s.draft_limit);
  }

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<uint32_t>(values.size()))];
  }

  FakeServer::Options options() {
    FakeServer::Options options{.context = kLongestPrompt + kLongestReply};
    options.scheduler = {.max_seqs = 1 + below(8),
                         .prefill_chunk = one_of({1u, 3u, 16u, 64u, 1 + below(64)}),
                         .tpot_stretch = one_of({1.25, 2.0, std::numeric_limits<double>::infinity()}),
                         .prefix_cache = below(8) > 0,
                         .logits_mask = one_of({LogitsMask::kInline, LogitsMask::kRebuild})};
    if (below(3) > 0) {
      options.backend.mtp = true;
      options.backend.draft_holds = [often = below(11)](uint64_t hash) { return hash % 10 < often; };
      options.scheduler.draft_limit = 1 + below(kMaxDrafts);
      if (below(2) == 0) options.scheduler.draft_depth = below(options.scheduler.draft_limit + 1);
      if (below(2) == 0) options.scheduler.draft_vocab = 16 * (1 + below(4));
    }
    options.vocabulary = vocabulary();
    options.queue = 1 + below(8);
    options.observer = begun_;
    options.backend.sizes = {.recurrent = below(3) > 0, .own_bytes = 1000, .page_bytes = 300};
    options.backend.step_ms = [](uint32_t rows) { return 20 + 0.5 * rows; };
    options.backend.on_run = [this](const plan::StepPacket& packet) { look_at(packet); };
    options.backend.nan_token = kNan;
    options.backend.workers = 1 + below(3);
    options.budget = {.running = one_of<uint64_t>({4000, 9000, 1'000'000}), .cache = one_of<uint64_t>({0, 2000, 8000, 50'000, 1'000'000})};
    return options;
  }

  void look_at(const plan::StepPacket& packet) {
    uint32_t decode = 0, prefill = 0;
    for (const plan::SequenceRows& s : packet.sequences) (s.kind == plan::StepKind::kPrefill ? prefill : decode) += s.rows;
    const SchedulerOptions& options = options_.scheduler;
    EXPECT_LE(packet.sequences.size(), options.max_seqs);
    EXPECT_LE(std::ranges::count(packet.returns, plan::RowReturn::kLogits), 32 + options.max_seqs * (options.draft_limit + 1));
    EXPECT_LE(prefill, decode == 0 ? options.prefill_chunk
                                   : server_.scheduler.cost().rows_within(decode, options.tpot_stretch, options.prefill_chunk));
  }

  // Something that was said before, up to somewhere, and something new.
  Tokens prompt() {
    Tokens tokens;
    if (!told_.empty() && below(8) > 0) {
      const Tokens& old = told_[below(static_cast<uint32_t>(told_.size()))];
      tokens = first_of(old, below(2) == 0 ? old.size() : below(static_cast<uint32_t>(old.size()) + 1));
    }
    const uint32_t more = 1 + below(below(20) == 0 ? 600 : 40);
    for (uint32_t i = 0; i < more; ++i) tokens.push_back(static_cast<int32_t>(below(60)));
    if (tokens.size() > kLongestPrompt) tokens.resize(1 + below(100));
    if (faults_ && below(60) == 0) tokens.push_back(kNan);
    return tokens;
  }

  GenerateRequest request() {
    GenerateRequest request{.prompt = prompt(), .max_tokens = 1 + below(kLongestReply - 1)};
    if (below(3) == 0) {
      request.sampling = {.temperature = 1.5f, .top_k = one_of({0, 1, 5, 40}), .top_p = one_of({0.9f, 1.0f})};
    } else {
      request.sampling = {.temperature = 0, .repetition_penalty = below(10) == 0 ? 1.5f : 1.0f};
    }
    request.sampling.seed = random_();
    if (below(6) == 0) request.sampling.logit_bias = {{static_cast<int32_t>(below(60)), 3}, {7, -100}, {9, 15}};
    if (below(4) == 0) request.min_tokens = below(request.max_tokens + 1);
    if (below(4) == 0) request.stop_token_ids = {static_cast<int32_t>(below(60)), 9};
    request.ignore_eos = below(3) == 0;
    if (below(10) == 0) request.top_logprobs = 1;
    request.prompt_logprobs = below(12) == 0;
    if (options_.scheduler.draft_limit > 0 && below(3) == 0) request.draft_depth = below(options_.scheduler.draft_limit + 1);
    if (below(3) == 0) request.message_end = 1 + below(static_cast<uint32_t>(request.prompt.size()));
    return request;
  }

  void submit() {
    Asked asked{.request = request()};
    const uint32_t choices = 1 + (below(3) == 0 ? below(4) : 0);
    if (!server_.scheduler.check_fits(choices, asked.room())) return;
    for (uint32_t i = 0; i < choices; ++i) asked.ears.push_back(std::make_shared<Ear>(below(6) == 0 ? 1 + below(20) : 0));
    const bool full = server_.queue().full();
    const auto id = server_.submit(asked.request, {asked.ears.begin(), asked.ears.end()});
    ASSERT_EQ(id.has_value(), !full);
    if (!id) return;
    asked.id = *id;
    // Some go on from a reply before it is there.
    const bool foreseen = below(4) == 0 && asked.request.sampling.temperature == 0;
    tell(foreseen ? joined(asked.request.prompt, greedy_by_definition(asked.request)) : asked.request.prompt);
    live_.push_back(std::move(asked));
    // Each step reads a row of a prompt or gives a token to those who are there.
    uint64_t work = 20;
    for (const Asked& other : live_) work += other.request.prompt.size() + other.request.max_tokens * other.ears.size();
    live_.back().deadline = steps_ + work;
  }

  void cancel(Asked& asked) {
    server_.queue().cancel(asked.id);
    asked.cancelled = true;
    asked.deadline = steps_;
  }

  void fault() {
    const uint32_t dice = below(3);
    if (dice == 0) {
      server_.backend.fail_next_run();
      ++failed_steps_;
    } else if (dice == 1 && forks_fail_) {
      server_.backend.fail_next_fork();
      ++failed_forks_;
    } else {
      const auto& slots = server_.backend.states().open_slots();
      if (slots.empty()) return;
      server_.backend.give_nan(std::next(slots.begin(), below(static_cast<uint32_t>(slots.size())))->first);
      ++nans_;
    }
  }

  void step() {
    const bool will_fail = server_.backend.about_to_fail();
    server_.step();
    step_failed_ = will_fail && !server_.backend.about_to_fail();
    ++steps_;
    const EngineStatus status = server_.scheduler.status();
    check_order(status);
    check_progress(status);
    const bool late = below(6) == 0 && ++undelivered_ < 8;
    if (late) return;
    undelivered_ = 0;
    deliver();
    // A state that could not be had ends its request, which is still seen until the next step.
    if (!forks_fail_) check_books(status);
  }

  void check_order(const EngineStatus& status) {
    EXPECT_LE(status.cache_used, status.cache_budget);
    EXPECT_LE(status.state_promised, status.state_budget);
    for (const auto& sequence : status.sequences) {
      if (sequence.state != SequenceState::kWaiting) last_admitted_ = std::max(last_admitted_, sequence.request);
    }
    for (const auto& sequence : status.sequences) {
      if (sequence.state == SequenceState::kWaiting) {
        EXPECT_GT(sequence.request, last_admitted_) << "somebody was overtaken";
      }
    }
  }

  // Who was decoding before the step and still is has a token more, or as many as were drafted.
  void check_progress(const EngineStatus& status) {
    std::map<std::pair<uint64_t, uint32_t>, uint32_t> decoding;
    for (const auto& s : status.sequences) {
      if (s.state != SequenceState::kDecode) continue;
      decoding[{s.request, s.choice}] = s.completion_tokens;
      const auto before = decoding_.find({s.request, s.choice});
      if (before != decoding_.end()) {
        // A draft step that fails takes those with it that drafted; the others wait for the next step.
        EXPECT_GE(s.completion_tokens, before->second + (step_failed_ ? 0 : 1));
        EXPECT_LE(s.completion_tokens, before->second + 1 + options_.scheduler.draft_limit);
      }
    }
    decoding_ = std::move(decoding);
  }

  // With all events delivered it is known who has begun, and so who has a state.
  void check_books(const EngineStatus& status) const {
    uint32_t running = 0, slots = status.checkpoints;
    uint64_t promised = 0;
    for (const auto& s : status.sequences) {
      if (s.state == SequenceState::kWaiting) continue;
      ++running;
      const auto asked = std::ranges::find(live_, s.request, &Asked::id);
      ASSERT_TRUE(asked != live_.end());
      promised += server_.backend.state_bytes(asked->room());
      slots += s.state == SequenceState::kDecode || (s.choice == 0 && begun_->requests.contains(s.request));
    }
    EXPECT_EQ(server_.scheduler.running(), running);
    EXPECT_EQ(status.state_promised, promised);
    EXPECT_EQ(server_.backend.usage().slots, slots);
    if (running == 0) {
      EXPECT_EQ(server_.backend.usage().bytes, status.cache_used);
    }
  }

  void deliver() {
    server_.deliver();
    for (const Asked& asked : live_) {
      if (asked.ended()) {
        check(asked);
      } else {
        EXPECT_LE(steps_, asked.deadline) << "request " << asked.id << " waits for ever";
      }
    }
    std::erase_if(live_, [](const Asked& asked) { return asked.ended(); });
  }

  // Greedy replies by the definition of the fake model, others by what the request gives when nobody shares its steps.
  std::vector<Tokens> expected(const Asked& asked) {
    const GenerateRequest& request = asked.request;
    std::vector<Tokens> replies(asked.ears.size());
    if (asked.must_fail()) return replies;
    if (request.sampling.temperature == 0 && request.sampling.repetition_penalty == 1) {
      std::ranges::fill(replies, greedy_by_definition(request));
      return replies;
    }
    GenerateRequest plain = request;
    plain.prompt_logprobs = false;
    plain.top_logprobs = std::nullopt;
    plain.draft_depth = std::nullopt;
    const auto reply = alone_.run(plain, static_cast<uint32_t>(replies.size()));
    for (size_t i = 0; i < replies.size(); ++i) replies[i] = reply.ids(i);
    return replies;
  }

  static Tokens greedy_by_definition(const GenerateRequest& request) {
    std::set<int32_t> stops(request.stop_token_ids.begin(), request.stop_token_ids.end());
    if (!request.ignore_eos) stops.insert(5);
    Tokens all = request.prompt, reply;
    while (reply.size() < request.max_tokens) {
      FakeBackend::Logits logits = FakeBackend::logits_after(all);
      for (const auto& [id, bias] : request.sampling.logit_bias) logits[static_cast<size_t>(id)] += bias;
      std::fill(logits.begin() + 60, logits.end(), -1e9f);
      for (const int32_t id : stops) logits[static_cast<size_t>(id)] -= reply.size() < request.min_tokens ? 1e9f : 0;
      const auto best = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
      all.push_back(best);
      reply.push_back(best);
      if (stops.contains(best)) break;
    }
    return reply;
  }

  void check(const Asked& asked) {
    const std::vector<Tokens> wanted = expected(asked);
    const Tokens& prompt = asked.request.prompt;
    for (size_t i = 0; i < asked.ears.size(); ++i) {
      const Ear& ear = *asked.ears[i];
      const Timings& timings = ear.finish->timings;
      ++replies_;
      EXPECT_EQ(timings.prompt_tokens, prompt.size());
      EXPECT_EQ(timings.completion_tokens, ear.tokens.size());
      EXPECT_LT(timings.cached_tokens, asked.request.prompt_logprobs ? 1 : prompt.size());
      ASSERT_LE(ear.tokens.size(), wanted[i].size());
      EXPECT_EQ(ear.tokens, first_of(wanted[i], ear.tokens.size())) << "request " << asked.id << ", choice " << i;
      if (asked.request.prompt_logprobs && !ear.tokens.empty()) {
        EXPECT_EQ(ear.scored, Tokens(prompt.begin() + 1, prompt.end()));
      }
      check_end(asked, ear, wanted[i]);
    }
    if (!asked.ears[0]->tokens.empty()) tell(joined(prompt, asked.ears[0]->tokens));
  }

  void check_end(const Asked& asked, const Ear& ear, const Tokens& wanted) {
    const FinishReason reason = ear.finish->reason;
    const bool whole = ear.tokens == wanted;
    if (ear.stopped()) {
      EXPECT_EQ(reason, FinishReason::kStop);
    } else if (reason == FinishReason::kStop) {
      EXPECT_TRUE(whole);
    } else if (reason == FinishReason::kLength) {
      EXPECT_TRUE(whole);
      EXPECT_EQ(ear.tokens.size(), asked.request.max_tokens);
    } else if (reason == FinishReason::kCancelled) {
      EXPECT_TRUE(asked.cancelled);
    } else {
      const std::string& message = ear.finish->error->message;
      if (message == "this step was told to fail") {
        EXPECT_GT(failed_steps_, 0u);
      } else if (message == "this fork was told to fail") {
        EXPECT_GT(failed_forks_, 0u);
      } else {
        EXPECT_NE(message.find("NaN"), std::string::npos) << message;
        if (!asked.must_fail()) {
          EXPECT_LE(++nan_replies_, 4 * nans_);  // four choices may begin in one state
        }
      }
    }
  }

  void tell(Tokens tokens) {
    if (told_.size() < 20) {
      told_.push_back(std::move(tokens));
    } else {
      told_[below(20)] = std::move(tokens);
    }
  }

  std::mt19937 random_;
  const bool faults_, forks_fail_;
  std::shared_ptr<Begun> begun_ = std::make_shared<Begun>();
  const FakeServer::Options options_;
  FakeServer server_, alone_;
  std::deque<Asked> live_;
  std::vector<Tokens> told_;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> decoding_;
  uint64_t steps_ = 0, replies_ = 0, last_admitted_ = 0;
  uint32_t undelivered_ = 0, failed_steps_ = 0, failed_forks_ = 0, nans_ = 0, nan_replies_ = 0;
  bool step_failed_ = false;
};

TEST(SchedulerAtRandom, EachReplyIsWhatItsRequestDemandsAndNothingIsLost) {
  const auto level = spdlog::get_level();
  spdlog::set_level(spdlog::level::err);  // states that cannot be forked are many here
  uint64_t replies = 0, hits = 0;
  for (uint32_t seed = 1; seed <= 260 && !HasFailure(); ++seed) {
    World world(seed);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, world.text()));
    for (int event = 0; event < 4000 && !HasFailure(); ++event) {
      ASSERT_NO_FATAL_FAILURE(world.event());
      if (event % 500 == 0) world.recount();
      if (HasFailure()) ADD_FAILURE() << "in event " << event;
    }
    if (!HasFailure()) world.finish();
    replies += world.replies();
    hits += world.hits();
  }
  spdlog::set_level(level);
  EXPECT_GT(replies, 50'000u);
  EXPECT_GT(hits, 1'000'000u);
}

}  // namespace
}  // namespace teapot::engine
