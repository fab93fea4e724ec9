#include "engine/engine.h"

#include <algorithm>
#include <future>
#include <thread>

#include "engine/context_limit.h"
#include "engine/job_queue.h"
#include "engine/sequence.h"

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

 private:
  void live(const Progress& progress, std::promise<Status> ready) {
    auto backend = load(progress);
    if (!backend) {
      ready.set_value(std::unexpected(std::move(backend).error()));
      return;
    }
    PlanCache plans(**backend, model_);
    Workbench bench{.backend = **backend,
                    .plans = plans,
                    .vocabulary = vocabulary_,
                    .context = limit_.tokens,
                    .prefill_chunk = std::max(1u, options_.prefill_chunk)};
    // The shapes that every request needs, so that what a plan cannot have is said now.
    for (const plan::StepShape shape :
         {plan::StepShape{plan::StepKind::kDecode, 1, 1}, plan::StepShape{plan::StepKind::kPrefill, 1, bench.prefill_chunk}}) {
      if (auto plan = plans.get(shape); !plan) {
        ready.set_value(std::unexpected(std::move(plan).error()));
        return;
      }
    }
    ready.set_value({});
    serve(bench);
  }

  Result<std::unique_ptr<plan::Backend>> load(const Progress& progress) {
    TEAPOT_TRY(auto backend, cpu::create_backend(options_.backend));
    TEAPOT_CHECK(backend->load(model_.weights, model_.layout, progress));
    TEAPOT_TRY(const MemoryStatus memory, read_memory());
    TEAPOT_TRY(limit_, context_limit(model_.config.context_length(), options_.context, memory,
                                     [&](uint32_t tokens) { return backend->state_bytes(tokens); }));
    switches_ = backend->switches();
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
  std::jthread thread_;  // last: joined before the others go
};

Result<std::unique_ptr<Engine>> Engine::create(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options,
                                               const std::function<void(uint64_t done, uint64_t total)>& progress) {
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

}  // namespace teapot::engine
