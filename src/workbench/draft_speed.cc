#include "workbench/draft_speed.h"

#include <algorithm>
#include <mutex>

#include "workbench/prompt_token.h"

namespace teapot::workbench {
namespace {

// Sums of the steps since the last clear.
class StepSums : public engine::EngineObserver {
 public:
  void on_step(const engine::StepRecord& step) override {
    const std::lock_guard lock(mutex_);
    if (step.prefill_rows > 0) return;
    ++sums_.steps;
    sums_.tokens += step.tokens;
    sums_.draft_ms += step.drafts.draft_ms;
    sums_.catch_up_ms += step.drafts.catch_up_ms;
    sums_.model_ms += step.ms;
    sums_.sample_ms += step.sample_ms;
    sums_.replay_ms += step.replay_ms;
    sums_.drafts += step.drafts.drafts;
  }
  void on_prompt(const engine::PromptRecord&) override {}
  void on_token(double) override {}
  void on_reply(const engine::ReplyRecord&) override {}
  void on_stall(double) override {}

  DraftSpeed take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sums_, {});
  }

 private:
  std::mutex mutex_;
  DraftSpeed sums_;  // guarded by mutex_
};

class Bench {
 public:
  Bench(engine::Engine& engine, const DraftSpeedOptions& options, StepSums& sums, ForcedDrafts& forced)
      : engine_(engine), options_(options), sums_(sums), forced_(forced) {}

  // All settings in turn, as often as asked; the true replies come from a turn before.
  Status run(uint32_t c, std::vector<DraftSpeed>& out) {
    std::vector<DraftSetting> settings = {0u};
    settings.insert(settings.end(), options_.settings.begin(), options_.settings.end());
    std::vector<DraftSpeed> speeds(settings.size());
    std::vector<std::vector<double>> ms(settings.size()), gains(settings.size());
    for (size_t i = 0; i < settings.size(); ++i) speeds[i] = {.c = c, .setting = settings[i]};
    std::vector<double> of_turn(settings.size());
    for (uint32_t turn = 0; turn < options_.repeat; ++turn) {
      replies_.assign(c, {});
      TEAPOT_CHECK(reply(c, turn, 0u, nullptr));  // reads the prompts, too: from now on they are cached
      for (size_t i = 0; i < settings.size(); ++i) {
        const size_t at = (i + turn) % settings.size();
        TEAPOT_CHECK(reply(c, turn, settings[at], &speeds[at]));
        of_turn[at] = tpot_ms_;
      }
      if (std::ranges::min(of_turn) <= 0) continue;
      for (size_t i = 0; i < settings.size(); ++i) {
        ms[i].push_back(of_turn[i]);
        gains[i].push_back(of_turn[0] / of_turn[i]);
      }
    }
    if (ms[0].empty()) {
      return fail(ErrorKind::kInvalid, "speed: in no turn had a reply two tokens");
    }
    for (size_t i = 0; i < settings.size(); ++i) {
      speeds[i].tpot_ms = Spread::of(ms[i]);
      speeds[i].gain = Spread::of(gains[i]);
      const auto steps = static_cast<double>(std::max<uint64_t>(1, speeds[i].steps));
      DraftSpeed& s = speeds[i];
      for (double* figure : {&s.draft_ms, &s.catch_up_ms, &s.model_ms, &s.replay_ms, &s.sample_ms}) *figure /= steps;
      out.push_back(speeds[i]);
    }
    return {};
  }

 private:
  std::vector<int32_t> prompt(uint32_t sequence, uint32_t turn, uint32_t c) const {
    if (!options_.prompts.empty()) return options_.prompts[(turn * c + sequence) % options_.prompts.size()];
    std::vector<int32_t> ids;
    ids.reserve(options_.prompt);
    for (uint32_t i = 0; i < options_.prompt; ++i) ids.push_back(prompt_token(sequence, i, engine_.config().vocab));
    return ids;
  }

  // c replies at a time. speed: of the setting; null: only the replies are wanted.
  Status reply(uint32_t c, uint32_t turn, DraftSetting setting, DraftSpeed* speed) {
    std::vector<engine::GenerateRequest> requests;
    const uint64_t misses = engine_.status().plan_misses;
    sums_.take();
    for (uint32_t s = 0; s < c; ++s) {
      engine::GenerateRequest& request = requests.emplace_back();
      request.prompt = prompt(s, turn, c);
      request.sampling.temperature = 0;
      request.max_tokens = options_.gen;
      request.ignore_eos = options_.prompts.empty();
      request.draft_depth = setting;
      request.message_end = static_cast<uint32_t>(request.prompt.size() - 1);
    }
    TEAPOT_TRY(ReplyTurn replies, run_turn(engine_, std::move(requests), forced_, replies_));
    if (speed == nullptr) {
      replies_ = std::move(replies.ids);
      return {};
    }
    tpot_ms_ = replies.tpot_ms;
    const DraftSpeed sums = sums_.take();
    speed->steps += sums.steps;
    speed->tokens += sums.tokens;
    speed->draft_ms += sums.draft_ms;
    speed->catch_up_ms += sums.catch_up_ms;
    speed->model_ms += sums.model_ms;
    speed->sample_ms += sums.sample_ms;
    speed->replay_ms += sums.replay_ms;
    speed->drafts += sums.drafts;
    speed->plan_misses += engine_.status().plan_misses - misses;
    speed->equal = speed->equal && replies.ids == replies_;
    return {};
  }

  engine::Engine& engine_;
  const DraftSpeedOptions& options_;
  StepSums& sums_;
  ForcedDrafts& forced_;
  std::vector<std::vector<int32_t>> replies_;  // [sequences] true ones, of the turn
  double tpot_ms_ = 0;                         // of the last turn
};

Status check(const DraftSpeedOptions& options) {
  if (options.concurrency.empty() || options.settings.empty() || options.gen < 2 || options.repeat == 0 || options.prompt == 0) {
    return fail(ErrorKind::kInvalid, "speed: at least one number of sequences, one setting, one token of prompt, two of reply, one turn");
  }
  if (Status rates = check_rates(options.accept_rates); !rates) return at("speed", std::move(rates).error());
  for (const auto& prompt : options.prompts) {
    if (prompt.empty()) return fail(ErrorKind::kInvalid, "speed: an empty prompt");
  }
  return {};
}

}  // namespace

Result<DraftSpeeds> measure_draft_speed(const std::string& path, const engine::EngineOptions& engine, const DraftSpeedOptions& options,
                                        const engine::LoadHooks& hooks, const std::function<void(const std::string& what)>& progress) {
  TEAPOT_CHECK(check(options));
  ForcedDrafts forced(options.accept_rates, options.gen);
  const auto sums = std::make_shared<StepSums>();
  engine::EngineOptions own = engine;
  own.scheduler.max_seqs = std::ranges::max(options.concurrency);
  own.max_queue = own.scheduler.max_seqs;
  if (std::ranges::all_of(options.settings, &DraftSetting::has_value)) own.mtp = std::ranges::max(options.settings);
  forced.install(own);
  engine::LoadHooks own_hooks = hooks;
  own_hooks.observer = sums;
  TEAPOT_TRY(const engine::LoadedEngine loaded, engine::load_engine(path, own, /*text_needed=*/false, own_hooks));
  if (loaded.engine->draft_limit() == 0) {
    return fail(ErrorKind::kUnsupported, "{}: there is no speculation to measure (see the switch mtp of teapot levers)", path);
  }
  for (const DraftSetting& setting : options.settings) {
    if (setting.value_or(0) > loaded.engine->draft_limit()) {
      return fail(ErrorKind::kInvalid, "speed: {} drafts a step; beside auto states have room for {}", *setting,
                  loaded.engine->draft_limit());
    }
  }
  DraftSpeeds speeds{.options = options, .model = path, .speeds = {}, .levers = loaded.engine->switches()};
  Bench bench(*loaded.engine, options, *sums, forced);
  for (const uint32_t c : options.concurrency) {
    progress(fmt::format("{} sequence{}", c, c == 1 ? "" : "s"));
    TEAPOT_CHECK(bench.run(c, speeds.speeds));
  }
  const engine::EngineStatus status = loaded.engine->status();
  if (const uint64_t all = status.draft_vocab_hits + status.draft_vocab_misses; all > 0) {
    speeds.coverage = static_cast<double>(status.draft_vocab_hits) / static_cast<double>(all);
  }
  return speeds;
}

}  // namespace teapot::workbench
