#include "engine/evaluate.h"

#include <algorithm>

#include "engine/distribution.h"
#include "engine/open_slots.h"

namespace teapot::engine {
namespace {

// Rows of one step into [layer, begin .. begin + rows) of an array [layers, tokens, cols] that grows by a layer when its first rows come.
template <class T>
void keep_rows(std::vector<T>& array, const std::vector<T>& rows, size_t cols, size_t layer, size_t tokens, size_t begin) {
  array.resize(std::max(array.size(), (layer + 1) * tokens * cols));
  std::ranges::copy(rows, array.begin() + static_cast<ptrdiff_t>((layer * tokens + begin) * cols));
}

}  // namespace

Result<std::unique_ptr<Evaluator>> Evaluator::create(model::Model model, const cpu::Options& options,
                                                     const std::function<void(uint64_t done, uint64_t total)>& progress) {
  TEAPOT_TRY(auto backend, cpu::create_backend(options));
  TEAPOT_CHECK(backend->load(model.weights, model.layout, progress ? progress : [](uint64_t, uint64_t) {}));
  return std::unique_ptr<Evaluator>(new Evaluator(std::move(model), std::move(backend)));
}

Evaluator::Evaluator(model::Model model, std::unique_ptr<plan::Backend> backend)
    : model_(std::move(model)), backend_(std::move(backend)), plans_(*backend_, model_), tapped_plans_(*backend_, model_, {.taps = true}) {}

std::vector<plan::SwitchReport> Evaluator::switches() const {
  std::vector<plan::SwitchReport> all = model_.switches;
  for (const plan::SwitchReport& report : backend_->switches()) all.push_back(report);
  return all;
}

Status Evaluator::check(std::span<const int32_t> ids, const EvaluateOptions& options) const {
  if (ids.empty()) return fail(ErrorKind::kInvalid, "no token ids to evaluate");
  if (ids.size() > model_.config.context_length())
    return fail(ErrorKind::kInvalid, "{} token ids; the model's context is {} tokens", ids.size(), model_.config.context_length());
  if (options.decode_from && *options.decode_from > ids.size())
    return fail(ErrorKind::kInvalid, "decoding from token {}, but there are {}", *options.decode_from, ids.size());
  if (options.chunk == 0) return fail(ErrorKind::kInvalid, "a chunk is 0 tokens; expected at least 1");
  for (const int32_t id : ids) {
    if (id >= 0 && static_cast<uint32_t>(id) < model_.config.vocab) continue;
    return fail(ErrorKind::kInvalid, "token id {}; the vocabulary has {} rows", id, model_.config.vocab);
  }
  return {};
}

Result<Evaluation> Evaluator::run(std::span<const int32_t> ids, const EvaluateOptions& options) {
  TEAPOT_CHECK(check(ids, options));
  const auto tokens = static_cast<uint32_t>(ids.size());
  OpenSlots slots(*backend_);
  TEAPOT_TRY(const plan::SlotId slot, slots.open(tokens));
  Evaluation evaluation;
  evaluation.logits.resize(size_t{tokens} * model_.config.vocab);
  const uint32_t prefill = std::min(options.decode_from.value_or(tokens), tokens);
  for (uint32_t begin = 0; begin < tokens;) {
    const bool decode = begin >= prefill;
    const uint32_t rows = decode ? 1 : std::min(options.chunk, prefill - begin);
    TEAPOT_CHECK(step(slot, ids, begin, rows, options, evaluation));
    begin += rows;
  }
  if (options.states) {
    for (uint32_t layer = 0; layer < model_.layout.gdn_layers; ++layer) evaluation.states.push_back(backend_->snapshot(slot, layer));
  }
  return evaluation;
}

Status Evaluator::step(plan::SlotId slot, std::span<const int32_t> ids, uint32_t begin, uint32_t rows, const EvaluateOptions& options,
                       Evaluation& evaluation) {
  const bool taps = options.hidden || options.router;
  TEAPOT_TRY(const plan::PlanId plan, (taps ? tapped_plans_ : plans_).get({rows}));
  const auto chunk = ids.subspan(begin, rows);
  packet_.tokens.assign(chunk.begin(), chunk.end());
  packet_.sequences.assign(1, {.slot = slot, .first_row = 0, .rows = rows, .position = begin});
  packet_.returns.assign(rows, plan::RowReturn::kLogits);
  TEAPOT_CHECK(backend_->run(plan, packet_, result_));
  for (uint32_t row = 0; row < rows; ++row) {
    if (!all_finite(result_.logits[row])) {
      return fail(ErrorKind::kInternal, "the logits of position {} hold NaN or infinity: the model's weights are broken", begin + row);
    }
    std::ranges::copy(result_.logits[row], evaluation.logits.begin() + static_cast<ptrdiff_t>(size_t{begin + row} * model_.config.vocab));
  }
  if (taps) keep_taps(ids.size(), begin, options, evaluation);
  return {};
}

void Evaluator::keep_taps(size_t tokens, uint32_t begin, const EvaluateOptions& options, Evaluation& evaluation) const {
  size_t hidden_layer = 0, router_layer = 0;
  for (const plan::TapResult& tap : result_.taps) {
    if (options.hidden && tap.name.starts_with("hidden.")) {
      keep_rows(evaluation.hidden, tap.f32, tap.cols, hidden_layer++, tokens, begin);
    } else if (options.router && tap.name.starts_with("router.")) {
      keep_rows(evaluation.router, tap.i32, tap.cols, router_layer++, tokens, begin);
    }
  }
}

}  // namespace teapot::engine
