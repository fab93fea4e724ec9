#include "cli/model_options.h"

#include <map>
#include <vector>

#include "base/log.h"
#include "cli/progress.h"

namespace teapot::cli {

namespace {

// An option whose value is one of a few names.
template <class T>
void add_choice(CLI::App& command, const std::string& option, T& value, const std::map<std::string, T>& names, const std::string& help) {
  std::vector<std::string> allowed;
  std::string active;
  for (const auto& [name, meant] : names) {
    allowed.push_back(name);
    if (meant == value) active = name;
  }
  const auto set = [&value, names](const std::string& name) { value = names.at(name); };
  command.add_option_function<std::string>(option, set, help)->check(CLI::IsMember(allowed))->default_str(active);
}

std::string refuse_negative(std::string& text) {
  return text.starts_with('-') ? fmt::format("{}: expected a number of bytes, not below 0", text) : "";
}

void add_cache_options(CLI::App& command, engine::SchedulerOptions& options) {
  add_choice(command, "--prefix-cache", options.prefix_cache, {{"on", true}, {"off", false}},
             "Keep states of prompts and replies for requests that begin alike");
  command
      .add_option("--cache-bytes", options.cache_bytes,
                  "Memory of the prefix cache, in bytes or as 512MiB, 2GiB (default: a quarter of what is free after loading)")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->transform(CLI::Validator(refuse_negative, ""));  // runs first: the size alone would wrap around
  add_choice(command, "--logits-mask", options.logits_mask,
             {{"rebuild", engine::LogitsMask::kRebuild}, {"inline", engine::LogitsMask::kInline}},
             "Ids that may not come out: rebuild (their logits are changed and searched), inline (the head is told)");
}

// "off", a number, or "auto", for an option that is 0, a number, or nothing.
CLI::Option* add_count_or_auto(CLI::App& command, const std::string& option, const std::string& zero, uint32_t most,
                               std::optional<uint32_t>& value, const std::string& help) {
  const auto parse = [zero, most](const std::string& text, std::optional<uint32_t>& parsed) {
    uint32_t number = 0;
    if (text == "auto") {
      parsed.reset();
    } else if (text == zero) {
      parsed = 0;
    } else if (CLI::detail::lexical_cast(text, number) && number >= 1 && number <= most && text.front() != '-') {
      parsed = number;
    } else {
      return false;
    }
    return true;
  };
  const auto check = [parse, zero, most](const std::string& text) {
    std::optional<uint32_t> ignored;
    return parse(text, ignored) ? std::string() : fmt::format("{}: expected {}, 1 to {}, or auto", text, zero, most);
  };
  return command.add_option_function<std::string>(
                    option, [parse, &value](const std::string& text) { parse(text, value); }, help)
      ->check(CLI::Validator(check, fmt::format("{}|1..{}|auto", zero, most)))
      ->default_str("auto");
}

// Beyond 1: a step with a piece of a prompt takes longer than one without.
std::string check_stretch(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && value > 1) return "";
  return fmt::format("{}: expected a number above 1, or inf", text);
}

}  // namespace

void add_backend_options(CLI::App& command, ModelOptions& options) {
  cpu::Options& backend = options.engine.backend;
  command.add_option("model", options.model, "Hugging Face directory or GGUF file")->required();
  command.add_option("--threads", backend.threads, "Threads; 0: one a physical core that the process may use")->check(CLI::Range(0, 1024));
  command.add_option("--isa", backend.isa, "auto, scalar, avx2, avx512, avx512vnni, amx")->capture_default_str();
  command
      .add_option("--weights", options.engine.weights.weights,
                  "Quantise f32, f16 and bf16 weights while loading, to q8_0, q4_0, q4_k, q6_k; file: as they are")
      ->capture_default_str();
  command
      .add_option("--head-weights", options.engine.weights.head_weights,
                  "The same for the head alone; auto: file with file, q8_0 with q8_0, else q6_k")
      ->capture_default_str();
  command.add_option("--kv-dtype", backend.kv_dtype, "Width of the KV cache: f32, bf16, f16")->capture_default_str();
  command.add_option("--activations", backend.activations, "What quantised weights are multiplied with: f32, int8; auto: int8")
      ->capture_default_str();
  command.add_option("--prepack", backend.prepack, "Weights in tiles (on), or row after row as in their file (off)")->capture_default_str();
  command.add_option("--pages", backend.pages, "Memory pages of the weights: 4k, thp, 2m, 1g, best")->capture_default_str();
  command.add_option("--alloc", backend.alloc, "Scratch memory of a step: malloc (each step), arena")->capture_default_str();
  command.add_option("--bind", backend.bind, "Where a thread may run: off (anywhere), core, numa (the cores of a memory node)")
      ->capture_default_str();
  command.add_option("--wait", backend.wait, "How threads wait for each other: futex, spin, spin-futex")->capture_default_str();
  command.add_option("--plan", backend.plan, "When a step's work is laid out: eager (op by op), dynamic (each step), static (beforehand)")
      ->capture_default_str();
  command
      .add_option("--sync", backend.sync,
                  "Waiting within a step: op (after each piece of work), layer (only where data flows), flags (for the pieces, not for all "
                  "threads)")
      ->capture_default_str();
  command.add_option("--shared-expert", backend.shared_expert, "serial (by itself), fused (beside the router and the routed experts)")
      ->capture_default_str();
  command.add_option("--gdn", backend.gdn, "split (step by step, with buffers between), fused (a value head at once)")
      ->capture_default_str();
  command.add_option("--attn", backend.attn, "head (a KV head of a row at once), split (in pieces of positions), auto")
      ->capture_default_str();
  command.add_option("--lmhead", backend.lmhead, "full (all logits, then the largest), argmax (with the products)")->capture_default_str();
  command.add_option("--prefetch", backend.prefetch, "Weights that a thread reads next: off, shared, routed, all")->capture_default_str();
  command.add_option("--state-dtype", backend.state_dtype, "Width of the recurrent state: f32, bf16 (not exact)")->capture_default_str();
  command.add_flag("-v,--verbose", options.verbose, "Tell what became of every switch");
}

CLI::Option* add_draft_vocab_option(CLI::App& command, engine::EngineOptions& options) {
  return add_count_or_auto(command, "--draft-vocab", "full", 1u << 24, options.draft_vocab,
                           "Ids that drafts are chosen from: the context's and the most frequent; auto: by what the head costs");
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  add_backend_options(command, options);
  command.add_option("--ctx", options.engine.context,
                     "Tokens that prompt and reply may have together; 0: the model's limit, or what memory holds");
  command.add_option("--prefill-chunk", options.engine.scheduler.prefill_chunk, "Tokens of the prompt that a step reads")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  add_cache_options(command, options.engine.scheduler);
  add_count_or_auto(command, "--mtp", "off", engine::kMaxDrafts, options.engine.mtp,
                    "Tokens that the MTP layer drafts for a step; auto: as many as pay, where the checkpoint has the layer");
  add_draft_vocab_option(command, options.engine);
  command
      .add_option("--step-timeout", options.engine.step_timeout_s, "Seconds after which a step that has not ended is reported; 0: never")
      ->check(kSeconds)
      ->capture_default_str();
  command.add_option("--warmup", options.engine.warmup, "Runs of the decode plans of 1, 2, 4, ... rows before the model is ready")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command.add_flag("--require-plan", options.engine.require_plan, "Prepare every step shape that can occur, or do not start");
}

void add_scheduler_options(CLI::App& command, engine::EngineOptions& options) {
  command.add_option("--max-queue", options.max_queue, "Requests that may wait; one more is a 429")->capture_default_str();
  command.add_option("--max-seqs", options.scheduler.max_seqs, "Sequences that run at once; more wait")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  command
      .add_option("--tpot-stretch", options.scheduler.tpot_stretch,
                  "A step with running sequences takes at most so many times what it takes without a piece of a prompt; above 1, or inf")
      ->check(CLI::Validator(check_stretch, "NUMBER > 1"))
      ->capture_default_str();
}

Result<engine::LoadedEngine> load_engine(const ModelOptions& options, bool text_needed) {
  std::optional<ProgressBar> bar(std::in_place, "loading");
  engine::LoadHooks hooks;
  hooks.note = [](const std::string& note) { log::info("{}", note); };
  hooks.progress = [&](uint64_t done, uint64_t total) { bar->update(done, total); };
  auto loaded = engine::load_engine(options.model, options.engine, text_needed, hooks);
  bar.reset();
  if (!loaded) return loaded;
  log::info("context: {} tokens ({})", loaded->engine->context(), loaded->engine->context_reason());
  engine::log_switches(loaded->engine->switches(), options.verbose);
  return loaded;
}

Result<LoadedBackend> load_backend(const ModelOptions& options, uint32_t drafts) {
  model::WeightOptions weights = options.engine.weights;
  weights.mtp = drafts > 0;
  TEAPOT_TRY(model::Model model, model::load_model(options.model, weights));
  if (drafts > 0) TEAPOT_CHECK(model.speculate(drafts));
  for (const std::string& note : model.notes) log::info("{}", note);
  TEAPOT_TRY(auto backend, cpu::create_backend(options.engine.backend));
  for (const std::string& note : backend->notes()) log::info("{}", note);
  std::optional<ProgressBar> bar(std::in_place, "loading");
  TEAPOT_CHECK(backend->load(model.weights, model.layout, [&](uint64_t done, uint64_t total) { bar->update(done, total); }));
  bar.reset();
  engine::log_switches(model.switches, options.verbose);
  engine::log_switches(backend->switches(), options.verbose);
  return LoadedBackend{std::move(model), std::move(backend)};
}

}  // namespace teapot::cli
