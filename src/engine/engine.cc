#include "engine/engine.h"

#include <algorithm>
#include <future>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/refusal.h"
#include "engine/calibrate.h"
#include "engine/context_limit.h"
#include "engine/scheduler.h"
#include "engine/watchdog.h"

namespace teapot::engine {

class Engine::Impl {
 public:
  using Progress = std::function<void(uint64_t done, uint64_t total)>;

  Impl(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options, std::shared_ptr<EngineObserver> observer)
      : options_(options),
        model_(std::move(model)),
        observer_(std::move(observer)),
        queue_(options.max_queue, options.scheduler.max_seqs),
        desk_(observer_) {
    vocabulary_ = {.rows = model_.config.vocab, .unsampled = std::move(unsampled), .stops = model_.generation.eos_ids};
    for (auto* ids : {&vocabulary_.unsampled, &vocabulary_.stops}) {
      std::ranges::sort(*ids);
      const auto repeated = std::ranges::unique(*ids);
      ids->erase(repeated.begin(), repeated.end());
    }
  }

  ~Impl() { queue_.close(); }

  // The backend is made, used and destroyed on one thread: that thread is a member of its team, and the one whose memory is touched first.
  Status start(const Progress& progress) {
    desk_.start();
    std::promise<Status> ready;
    std::future<Status> result = ready.get_future();
    thread_ = std::jthread([this, &progress, ready = std::move(ready)]() mutable { live(progress, std::move(ready)); });
    return result.get();
  }

  Status check(const GenerateRequest& request, size_t choices) const {
    if (choices == 0) return fail(ErrorKind::kInvalid, "no choices were asked for");
    if (request.prompt.empty()) return fail(ErrorKind::kInvalid, "the prompt is empty");
    if (request.prompt.size() >= limit_.tokens) {
      return fail(ErrorKind::kInvalid, "the prompt has {} tokens; the context holds {}, of which the reply needs at least one",
                  request.prompt.size(), limit_.tokens);
    }
    for (const int32_t id : request.prompt) {
      if (id < 0 || static_cast<uint32_t>(id) >= vocabulary_.rows) {
        return fail(ErrorKind::kInvalid, "the prompt has the token id {}; the vocabulary has {} rows", id, vocabulary_.rows);
      }
    }
    if (request.message_end > request.prompt.size()) {
      return fail(ErrorKind::kInvalid, "the last message ends at token {} of a prompt of {}", request.message_end, request.prompt.size());
    }
    const uint32_t limit = options_.scheduler.draft_limit;
    if (request.draft_depth.value_or(0) > limit) {
      return fail(ErrorKind::kInvalid, "{} drafts a step were asked for; {}", *request.draft_depth,
                  limit == 0 ? std::string("there is no speculation here") : fmt::format("states have room for {}", limit));
    }
    TEAPOT_CHECK(Sampler::check(request, vocabulary_));
    return scheduler_->check_fits(static_cast<uint32_t>(std::min<size_t>(choices, UINT32_MAX)), room_of(request, limit_.tokens));
  }

  JobQueue& queue() { return queue_; }
  Scheduler& scheduler() { return *scheduler_; }
  const model::Model& model() const { return model_; }
  size_t workers() const { return workers_; }
  const ContextLimit& limit() const { return limit_; }
  uint32_t draft_limit() const { return options_.scheduler.draft_limit; }
  const std::vector<plan::SwitchReport>& switches() const { return switches_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void live(const Progress& progress, std::promise<Status> ready) {
    std::unique_ptr<plan::Backend> backend;
    std::optional<Watchdog> watchdog;
    Status made = or_refusal("the engine", [&] { return make(progress, backend, watchdog); });
    if (!made) {
      scheduler_.reset();
      ready.set_value(std::move(made));
      return;
    }
    ready.set_value({});
    serve();
    scheduler_->close();  // the backend goes with its thread
  }

  Status make(const Progress& progress, std::unique_ptr<plan::Backend>& backend, std::optional<Watchdog>& watchdog) {
    TEAPOT_TRY(backend, load(progress));
    plans_.emplace(*backend, model_);
    TEAPOT_CHECK(choose_draft_vocab(*backend));
    scheduler_.emplace(
        Scheduler::Workplace{
            .backend = *backend, .plans = *plans_, .vocabulary = vocabulary_, .queue = queue_, .desk = desk_, .context = limit_.tokens},
        options_.scheduler, budget_);
    TEAPOT_CHECK(prepare_plans(*backend));
    watchdog.emplace(options_.step_timeout_s, scheduler_->step_began(), observer_);
    return {};
  }

  // Of a number that may be none, or left to the engine.
  static plan::SwitchReport report_of(const char* name, std::optional<uint32_t> value, const char* zero) {
    const std::string text = !value ? "auto" : *value == 0 ? zero : fmt::format("{}", *value);
    return {name, text, text, "", "auto"};
  }

  // Before the model is loaded: with drafts, states are larger.
  Status settle_mtp() {
    plan::SwitchReport report = report_of("mtp", options_.mtp, "off");
    if (options_.mtp != 0) {
      const uint32_t limit = options_.mtp.value_or(kAutoDrafts);
      Status possible =
          options_.backend.state_dtype == "bf16"
              ? fail(ErrorKind::kUnsupported, "a recurrent state in bf16 is rounded step by step: drafts would change replies")
              : model_.speculate(limit);
      if (!possible && options_.mtp) return fail(possible.error().kind, "mtp={}: {}", *options_.mtp, possible.error().message);
      if (possible) {
        options_.scheduler.draft_limit = limit;
        options_.scheduler.draft_depth = options_.mtp;
      } else {
        report.active = "off";
        report.reason = possible.error().message;
      }
    }
    switches_.push_back(std::move(report));
    return {};
  }

  // With a head as small as a few layers' projections there is nothing to gain.
  Status choose_draft_vocab(plan::Backend& backend) {
    constexpr uint32_t kReduced = 32768;  // with ids by frequency, nearly all that is said in a language or two
    constexpr double kWorth = 0.9;        // of the time with all ids
    plan::SwitchReport report = report_of("draft-vocab", options_.draft_vocab, "full");
    const uint32_t vocab = vocabulary_.rows;
    if (options_.scheduler.draft_limit == 0) {
      report.active = "off";
      report.reason = "there are no drafts";
    } else if (!options_.draft_vocab) {
      report.active = "full";
      report.reason = fmt::format("the vocabulary has {} ids", vocab);
      if (vocab > kReduced) {
        TEAPOT_TRY(const double all_ms, draft_ms(backend, *plans_, vocab, vocab));
        TEAPOT_TRY(const double reduced_ms, draft_ms(backend, *plans_, vocab, kReduced));
        report.reason = fmt::format("a draft takes {:.2f} ms with {} ids, {:.2f} ms with all {}", reduced_ms, kReduced, all_ms, vocab);
        if (reduced_ms < kWorth * all_ms) {
          options_.scheduler.draft_vocab = kReduced;
          report.active = fmt::format("{}", kReduced);
        }
      }
    } else {
      const uint32_t whole = (*options_.draft_vocab + plan::kHeadRowGroup - 1) / plan::kHeadRowGroup * plan::kHeadRowGroup;
      const bool reduced = whole > 0 && whole < vocab;
      if (reduced) options_.scheduler.draft_vocab = whole;
      report.active = reduced ? fmt::format("{}", whole) : "full";
      if (reduced && whole != *options_.draft_vocab)
        report.reason = fmt::format("whole groups of {} rows of the head", plan::kHeadRowGroup);
    }
    switches_.push_back(std::move(report));
    return {};
  }

  // All shapes that can occur: a piece of a prompt may have any length. The largest comes first: what steps share of memory is taken once,
  // and not by each plan anew.
  Status prepare_plans(plan::Backend& backend) {
    const SchedulerOptions& options = options_.scheduler;
    const auto prepare = [&](plan::PlanKind kind, uint32_t most) -> Status {
      for (uint32_t rows = most; rows > 0; --rows) TEAPOT_CHECK(plans_->prepare({rows, kind}));
      return {};
    };
    const uint32_t seqs = options.max_seqs;
    if (options.draft_limit == 0) {
      TEAPOT_CHECK(prepare(plan::PlanKind::kModel, options.prefill_chunk + seqs));
    } else {
      TEAPOT_CHECK(prepare(plan::PlanKind::kModel, seqs));
      TEAPOT_CHECK(prepare(plan::PlanKind::kModelMtp, options.prefill_chunk + seqs * (options.draft_limit + 1)));
      TEAPOT_CHECK(prepare(plan::PlanKind::kMtpState, seqs * (plan::kHiddenRows - 1)));
      TEAPOT_CHECK(prepare(plan::PlanKind::kDraft, seqs));
    }
    if (options_.require_plan) plans_->require_prepared();
    return calibrate(backend, *plans_, options, model_.config.vocab, options_.warmup, scheduler_->cost(), scheduler_->draft_cost());
  }

  std::vector<plan::SwitchReport> engine_switches() const {
    const EngineOptions defaults;
    const SchedulerOptions &options = options_.scheduler, &usual = defaults.scheduler;
    const auto report = [](const char* name, const auto& value, std::string reason, const auto& default_value) {
      return plan::SwitchReport{name, fmt::format("{}", value), fmt::format("{}", value), std::move(reason),
                                fmt::format("{}", default_value)};
    };
    const auto mask = [](LogitsMask value) { return value == LogitsMask::kInline ? "inline" : "rebuild"; };
    const auto cache = [](bool on) { return on ? "on" : "off"; };
    plan::SwitchReport cache_bytes{"cache-bytes", options.cache_bytes ? fmt::format("{}", *options.cache_bytes) : "auto",
                                   fmt::format("{}", budget_.cache), "", "auto"};
    if (!options.prefix_cache) {
      cache_bytes.reason = "the prefix cache is off";
    } else if (!options.cache_bytes) {
      cache_bytes.reason = "a quarter of the memory that was free after loading";
    }
    return {report("warmup", options_.warmup, "runs of the decode plans of 1, 2, 4, ... rows", defaults.warmup),
            report("require-plan", options_.require_plan, "", defaults.require_plan),
            report("prefill-chunk", options.prefill_chunk, "", usual.prefill_chunk),
            report("max-seqs", options.max_seqs, "", usual.max_seqs),
            report("tpot-stretch", options.tpot_stretch, "", usual.tpot_stretch),
            report("prefix-cache", cache(options.prefix_cache), "", cache(usual.prefix_cache)),
            cache_bytes,
            report("logits-mask", mask(options.logits_mask), "", mask(usual.logits_mask))};
  }

  Result<std::unique_ptr<plan::Backend>> load(const Progress& progress) {
    TEAPOT_CHECK(settle_mtp());
    TEAPOT_TRY(auto backend, cpu::create_backend(options_.backend));
    TEAPOT_CHECK(backend->load(model_.weights, model_.layout, progress));
    TEAPOT_TRY(const MemoryStatus memory, read_memory());
    TEAPOT_TRY(budget_, state_budget(memory, options_.scheduler.prefix_cache, options_.scheduler.cache_bytes));
    TEAPOT_TRY(limit_, context_limit(model_.config.context_length(), options_.context, budget_.running, options_.scheduler.max_seqs,
                                     [&](uint32_t tokens) { return backend->state_bytes(tokens); }));
    workers_ = backend->workers();
    for (plan::SwitchReport& report : backend->switches()) switches_.push_back(std::move(report));
    for (plan::SwitchReport& report : engine_switches()) switches_.push_back(std::move(report));
    notes_ = backend->notes();
    return backend;
  }

  // A fault in a step is the fault of those who are in it: the server goes on.
  void serve() {
    for (bool last = false; !last || scheduler_->busy();) {
      if (!scheduler_->busy()) queue_.wait();
      last = queue_.closed();  // the step sees all that came before
      try {
        scheduler_->step();
      } catch (const std::exception& fault) {
        log::error("a step failed: {}", fault.what());
        scheduler_->fail_all(Error{ErrorKind::kInternal, fmt::format("a step failed: {}", fault.what())});
      }
    }
  }

  EngineOptions options_;
  model::Model model_;
  std::shared_ptr<EngineObserver> observer_;
  Vocabulary vocabulary_;
  JobQueue queue_;
  ReplyDesk desk_;
  StateBudget budget_;
  ContextLimit limit_{};
  size_t workers_ = 0;  // of the backend
  std::vector<plan::SwitchReport> switches_;
  std::vector<std::string> notes_;
  std::optional<PlanCache> plans_;  // both of the decode thread, but for what any thread may ask
  std::optional<Scheduler> scheduler_;
  std::jthread thread_;  // last: joined before the others go
};

namespace {

Status check_options(const EngineOptions& options, std::span<const int32_t> unsampled, uint32_t vocab) {
  const SchedulerOptions& scheduler = options.scheduler;
  if (options.require_plan && options.backend.plan != "static") {
    return fail(ErrorKind::kInvalid, "plans are required, but plan={} prepares none", options.backend.plan);
  }
  if (scheduler.prefill_chunk == 0) return fail(ErrorKind::kInvalid, "the prefill chunk is 0 tokens; expected at least 1");
  if (options.mtp.value_or(0) > kMaxDrafts) {
    return fail(ErrorKind::kInvalid, "mtp is {}; expected off, auto, or 1 to {}", *options.mtp, kMaxDrafts);
  }
  if (scheduler.max_seqs == 0) return fail(ErrorKind::kInvalid, "0 sequences may run at a time; expected at least 1");
  if (!(scheduler.tpot_stretch > 1)) {
    return fail(ErrorKind::kInvalid, "tpot-stretch is {}; expected a number above 1, or inf", scheduler.tpot_stretch);
  }
  for (const int32_t id : unsampled) {
    if (id < 0 || static_cast<uint32_t>(id) >= vocab) {
      return fail(ErrorKind::kInternal, "the unsampled id {} is no row of the vocabulary ({} rows)", id, vocab);
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options,
                                               const std::function<void(uint64_t done, uint64_t total)>& progress,
                                               std::shared_ptr<EngineObserver> observer) {
  TEAPOT_CHECK(check_options(options, unsampled, model.config.vocab));
  auto impl = std::make_unique<Impl>(std::move(model), std::move(unsampled), options, std::move(observer));
  TEAPOT_CHECK(impl->start(progress));
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<RequestId> Engine::submit(GenerateRequest request, std::vector<std::shared_ptr<ReplySink>> choices) {
  TEAPOT_CHECK(impl_->check(request, choices.size()));
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  if (!job->request.sampling.seed) job->request.sampling.seed = fresh_seed();
  for (auto& sink : choices) job->choices.push_back(std::make_unique<Choice>(std::move(sink)));
  job->submitted = Clock::now();
  TEAPOT_TRY(const uint64_t id, impl_->queue().push(std::move(job)));
  return RequestId{id};
}

void Engine::cancel(RequestId id) { impl_->queue().cancel(static_cast<uint64_t>(id)); }

void Engine::reset_prefix_cache() {
  impl_->scheduler().reset_prefix_cache();
  impl_->queue().nudge();
}

Status Engine::record(uint32_t steps, std::function<void(std::unique_ptr<Recording>)> done) {
  if (steps == 0 || steps > kMaxRecordedSteps) {
    return fail(ErrorKind::kInvalid, "{} steps were to be recorded; expected 1 to {}", steps, kMaxRecordedSteps);
  }
  TEAPOT_CHECK(impl_->scheduler().recordings().ask(std::make_unique<Recording>(impl_->workers(), steps), std::move(done)));
  impl_->queue().nudge();
  return {};
}

void Engine::stop_recording() {
  impl_->scheduler().recordings().stop();
  impl_->queue().nudge();
}

Engine::Load Engine::load() const { return {.running = impl_->scheduler().running(), .waiting = impl_->queue().waiting()}; }

bool Engine::full() const { return impl_->queue().full(); }
double Engine::seconds_a_place() const { return impl_->queue().seconds_a_place(); }
EngineStatus Engine::status() const { return impl_->scheduler().status(); }
uint32_t Engine::context() const { return impl_->limit().tokens; }
uint32_t Engine::draft_limit() const { return impl_->draft_limit(); }
const std::string& Engine::context_reason() const { return impl_->limit().reason; }
const model::ModelConfig& Engine::config() const { return impl_->model().config; }
const model::GenerationConfig& Engine::generation() const { return impl_->model().generation; }
std::vector<plan::SwitchReport> Engine::switches() const {
  std::vector<plan::SwitchReport> all = impl_->model().switches;
  all.insert(all.end(), impl_->switches().begin(), impl_->switches().end());
  return all;
}
const std::vector<std::string>& Engine::notes() const { return impl_->notes(); }

}  // namespace teapot::engine
