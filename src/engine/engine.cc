#include "engine/engine.h"

#include <algorithm>
#include <future>
#include <optional>
#include <thread>

#include "engine/context_limit.h"
#include "engine/job_queue.h"
#include "engine/sequence.h"
#include "engine/warm_up.h"

namespace teapot::engine {

class Engine::Impl {
 public:
  using Progress = std::function<void(uint64_t done, uint64_t total)>;

  Impl(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options)
      : options_(options), model_(std::move(model)), queue_(options.max_queue) {
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
    std::promise<Status> ready;
    std::future<Status> result = ready.get_future();
    thread_ = std::jthread([this, &progress, ready = std::move(ready)]() mutable { live(progress, std::move(ready)); });
    return result.get();
  }

  Status check(const GenerateRequest& request) const {
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
    return Sampler::check(request, vocabulary_);
  }

  JobQueue& queue() { return queue_; }
  const model::Model& model() const { return model_; }
  const ContextLimit& limit() const { return limit_; }
  const std::vector<plan::SwitchReport>& switches() const { return switches_; }
  const std::vector<std::string>& notes() const { return notes_; }
  PlanCounters plan_counters() const { return {.hits = plans_->hits(), .misses = plans_->misses()}; }

 private:
  void live(const Progress& progress, std::promise<Status> ready) {
    auto backend = load(progress);
    if (!backend) {
      ready.set_value(std::unexpected(std::move(backend).error()));
      return;
    }
    plans_.emplace(**backend, model_);
    Workbench bench{.backend = **backend,
                    .plans = *plans_,
                    .vocabulary = vocabulary_,
                    .context = limit_.tokens,
                    .prefill_chunk = std::max(1u, options_.prefill_chunk)};
    if (Status prepared = prepare_plans(bench); !prepared) {
      ready.set_value(std::move(prepared));
      return;
    }
    ready.set_value({});
    serve(bench);
  }

  // The shapes that every request needs, so that what a plan cannot have is said now; all that can occur, if they are required: a prompt's
  // last chunk may have any length.
  Status prepare_plans(Workbench& bench) {
    const plan::StepShape decode{plan::StepKind::kDecode, 1, 1}, chunk{plan::StepKind::kPrefill, 1, bench.prefill_chunk};
    TEAPOT_TRY(const plan::PlanId decode_plan, plans_->prepare(decode));
    TEAPOT_TRY(const plan::PlanId chunk_plan, plans_->prepare(chunk));
    if (options_.require_plan) {
      for (uint32_t rows = 1; rows < bench.prefill_chunk; ++rows) TEAPOT_CHECK(plans_->prepare({plan::StepKind::kPrefill, 1, rows}));
      plans_->require_prepared();
    }
    TEAPOT_CHECK(warm_up(bench.backend, chunk_plan, chunk, std::min(options_.warmup, 1u)));
    return warm_up(bench.backend, decode_plan, decode, options_.warmup);
  }

  std::vector<plan::SwitchReport> engine_switches() const {
    const EngineOptions defaults;
    const auto report = [](const char* name, const auto& value, std::string reason, const auto& default_value) {
      return plan::SwitchReport{name, fmt::format("{}", value), fmt::format("{}", value), std::move(reason),
                                fmt::format("{}", default_value)};
    };
    return {report("warmup", options_.warmup, "runs of the decode plan; of the prefill chunk's at most one", defaults.warmup),
            report("require-plan", options_.require_plan, "", defaults.require_plan),
            report("prefill-chunk", options_.prefill_chunk, "", defaults.prefill_chunk)};
  }

  Result<std::unique_ptr<plan::Backend>> load(const Progress& progress) {
    TEAPOT_TRY(auto backend, cpu::create_backend(options_.backend));
    TEAPOT_CHECK(backend->load(model_.weights, model_.layout, progress));
    TEAPOT_TRY(const MemoryStatus memory, read_memory());
    TEAPOT_TRY(limit_, context_limit(model_.config.context_length(), options_.context, memory,
                                     [&](uint32_t tokens) { return backend->state_bytes(tokens); }));
    switches_ = backend->switches();
    for (plan::SwitchReport& report : engine_switches()) switches_.push_back(std::move(report));
    notes_ = backend->notes();
    return backend;
  }

  void serve(Workbench& bench) {
    while (true) {
      const std::shared_ptr<Job> job = queue_.take();
      finish_cancelled();
      if (job) {
        run(bench, *job);
      } else if (queue_.closed()) {
        return;
      }
    }
  }

  void run(Workbench& bench, const Job& job) {
    Finish finish{.reason = FinishReason::kError, .timings = {}, .error = {}};
    {
      auto sequence = Sequence::open(bench, job);
      if (!sequence) finish.error = sequence.error();
      while (sequence) {
        finish_cancelled();
        if (job.cancelled) {
          finish.reason = FinishReason::kCancelled;
          break;
        }
        const auto reason = (*sequence)->step();
        if (!reason) {
          finish.error = reason.error();
          break;
        }
        if (*reason) {
          finish.reason = **reason;
          break;
        }
      }
      if (sequence) finish.timings = (*sequence)->timings();
    }
    // The slot is free and the place too before anybody hears of the end: whoever hears it may count on that.
    queue_.done();
    job.sink->on_finish(finish);
  }

  void finish_cancelled() {
    for (const auto& job : queue_.take_cancelled()) {
      Finish finish{.reason = FinishReason::kCancelled, .timings = {}, .error = {}};
      finish.timings.queue_ms = std::chrono::duration<double, std::milli>(Clock::now() - job->submitted).count();
      finish.timings.prompt_tokens = static_cast<uint32_t>(job->request.prompt.size());
      job->sink->on_finish(finish);
    }
  }

  EngineOptions options_;
  model::Model model_;
  Vocabulary vocabulary_;
  JobQueue queue_;
  ContextLimit limit_{};
  std::vector<plan::SwitchReport> switches_;
  std::vector<std::string> notes_;
  std::optional<PlanCache> plans_;  // its backend lives on the decode thread: used there only, but for its counters
  std::jthread thread_;             // last: joined before the others go
};

Result<std::unique_ptr<Engine>> Engine::create(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options,
                                               const std::function<void(uint64_t done, uint64_t total)>& progress) {
  if (options.require_plan && options.backend.plan != "static") {
    return fail(ErrorKind::kInvalid, "plans are required, but plan={} prepares none", options.backend.plan);
  }
  if (options.prefill_chunk == 0) return fail(ErrorKind::kInvalid, "the prefill chunk is 0 tokens; expected at least 1");
  for (const int32_t id : unsampled) {
    if (id < 0 || static_cast<uint32_t>(id) >= model.config.vocab) {
      return fail(ErrorKind::kInternal, "the unsampled id {} is no row of the vocabulary ({} rows)", id, model.config.vocab);
    }
  }
  auto impl = std::make_unique<Impl>(std::move(model), std::move(unsampled), options);
  TEAPOT_CHECK(impl->start(progress));
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<RequestId> Engine::submit(GenerateRequest request, std::shared_ptr<ReplySink> sink) {
  TEAPOT_CHECK(impl_->check(request));
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->sink = std::move(sink);
  job->submitted = Clock::now();
  TEAPOT_TRY(const uint64_t id, impl_->queue().push(std::move(job)));
  return RequestId{id};
}

void Engine::cancel(RequestId id) { impl_->queue().cancel(static_cast<uint64_t>(id)); }

Engine::Load Engine::load() const {
  const JobQueue::Load load = impl_->queue().load();
  return {.running = load.running, .waiting = load.waiting};
}

bool Engine::full() const { return impl_->queue().full(); }
uint32_t Engine::context() const { return impl_->limit().tokens; }
const std::string& Engine::context_reason() const { return impl_->limit().reason; }
const model::ModelConfig& Engine::config() const { return impl_->model().config; }
const model::GenerationConfig& Engine::generation() const { return impl_->model().generation; }
std::vector<plan::SwitchReport> Engine::switches() const {
  std::vector<plan::SwitchReport> all = impl_->model().switches;
  all.insert(all.end(), impl_->switches().begin(), impl_->switches().end());
  return all;
}
const std::vector<std::string>& Engine::notes() const { return impl_->notes(); }
Engine::PlanCounters Engine::plan_counters() const { return impl_->plan_counters(); }

}  // namespace teapot::engine
