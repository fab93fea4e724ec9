#include "engine/load_engine.h"

#include "base/log.h"

namespace teapot::engine {
namespace {

Result<std::optional<TextAssets>> load_text(const model::Model& model, bool needed, const LoadHooks& hooks) {
  auto text = TextAssets::of(model);
  if (!text && text.error().kind == ErrorKind::kNotFound && !needed) {
    hooks.note(text.error().message);
    return std::nullopt;
  }
  if (!text) return std::unexpected(std::move(text).error());
  const auto tokens = static_cast<uint32_t>(text->tokenizer.vocab_size());
  if (tokens > model.config.vocab) {
    return fail(ErrorKind::kInvalid, "{}: the tokenizer has {} tokens, the embedding {} rows", model.path, tokens, model.config.vocab);
  }
  return std::optional(*std::move(text));
}

}  // namespace

Result<LoadedEngine> load_engine(const std::string& path, const EngineOptions& options, bool text_needed, const LoadHooks& hooks) {
  model::WeightOptions weights = options.weights;
  weights.mtp = options.mtp != 0;
  TEAPOT_TRY(model::Model model, model::load_model(path, weights));
  for (const std::string& note : model.notes) hooks.note(note);
  LoadedEngine loaded;
  TEAPOT_TRY(loaded.text, load_text(model, text_needed, hooks));
  std::vector<int32_t> unsampled;
  if (loaded.text) {
    unsampled = loaded.text->ids_without_token(model.config.vocab);
    if (const auto eos = loaded.text->tokenizer.eos_id()) model.generation.eos_ids.push_back(*eos);
  }
  TEAPOT_TRY(loaded.engine, Engine::create(std::move(model), std::move(unsampled), options, hooks.progress, hooks.observer));
  for (const std::string& note : loaded.engine->notes()) hooks.note(note);
  return loaded;
}

void log_switches(const std::vector<plan::SwitchReport>& switches, bool verbose) {
  for (const plan::SwitchReport& s : switches) {
    if (!verbose && (s.active == s.requested || s.requested == "auto")) continue;
    log::info("{}: {} (requested {}{}{})", s.name, s.active, s.requested, s.reason.empty() ? "" : "; ", s.reason);
  }
}

}  // namespace teapot::engine
