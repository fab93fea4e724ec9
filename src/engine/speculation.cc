#include "engine/speculation.h"

#include <algorithm>

namespace teapot::engine {
namespace {

constexpr double kWeight = 0.25;  // of a new figure

bool decodes(const Sequence& sequence) { return sequence.slot && !sequence.prefilling(); }

}  // namespace

Speculation::Speculation(const Place& place, const SchedulerOptions& options)
    : backend_(place.backend),
      plans_(place.plans),
      vocabulary_(place.vocabulary),
      cost_(place.cost),
      recorder_(place.recorder),
      options_(options),
      draft_cost_(options.max_seqs),
      depth_(cost_, draft_cost_, options.max_seqs),
      gains_(options.max_seqs + 1),
      vocab_(vocabulary_.rows, options.draft_vocab.value_or(vocabulary_.rows)) {
  for (const int32_t id : vocabulary_.unsampled) packet_.biases.push_back({id, -std::numeric_limits<float>::infinity()});
}

void Speculation::begin(Sequence& sequence) {
  if (!on()) return;
  sequence.acceptance.emplace(&acceptance_);
  vocab_.begin(sequence.request().prompt);
}

void Speculation::end(const Sequence& sequence) {
  if (sequence.acceptance) vocab_.end(sequence.tokens);
}

std::optional<uint32_t> Speculation::fixed(const Sequence& sequence) const {
  return sequence.request().draft_depth ? sequence.request().draft_depth : options_.draft_depth;
}

// The last token that there is room for is sampled from the row before it: what would come after it is of no use.
uint32_t Speculation::limit(const Sequence& sequence) const {
  const uint32_t left = sequence.room - static_cast<uint32_t>(sequence.tokens.size());
  return std::min({options_.draft_limit, left - 1, fixed(sequence).value_or(kMaxDrafts)});
}

uint32_t Speculation::lag(const Sequence& sequence) const { return sequence.committed - backend_.mtp_committed(*sequence.slot); }

Status Speculation::draft(std::span<const std::unique_ptr<Sequence>> sequences, uint32_t prompt_rows) {
  record_ = {};
  in_step_.clear();
  for (const auto& sequence : sequences) sequence->drafts.clear();
  if (!on()) return {};
  choose(sequences, prompt_rows);
  if (chains_.empty()) return {};
  lagging_.clear();
  for (const Chain& chain : chains_) {
    if (lag(*chain.sequence) > 0) lagging_.push_back(chain.sequence);
  }
  TEAPOT_CHECK(catch_up(lagging_));
  for (uint32_t drafts = 0; std::ranges::any_of(chains_, [&](const Chain& chain) { return chain.depth > drafts; }); ++drafts) {
    TEAPOT_CHECK(extend(drafts));
  }
  drop_what_does_not_pay();
  return {};
}

// chains_: of the sequences that draft in this round.
void Speculation::choose(std::span<const std::unique_ptr<Sequence>> sequences, uint32_t prompt_rows) {
  chains_.clear();
  deciding_.clear();
  model_rows_ = prompt_rows;
  ordered_ = false;
  for (const auto& sequence : sequences) {
    if (!decodes(*sequence)) continue;
    const uint32_t most = limit(*sequence);
    const bool decided = fixed(*sequence).has_value();
    ordered_ = ordered_ || (decided && most > 0);
    model_rows_ += decided ? 1 + most : 1;
    chains_.push_back({sequence.get(), most, !decided, 1});
    deciding_.push_back({decided ? 0 : most, lag(*sequence) > 0, sequence->acceptance->chances()});
  }
  probing_ = nullptr;
  if (chains_.empty()) return;
  if (!ordered_ && gains_[chains_.size()].rests()) {
    for (DraftingSequence& sequence : deciding_) sequence.limit = 0;
  }
  const std::span<const uint32_t> depths = depth_.choose(deciding_, model_rows_, catch_up_ms_);
  record_.decided = std::ranges::any_of(depths, [](uint32_t depth) { return depth > 0; });
  for (size_t i = 0; i < chains_.size(); ++i) {
    Chain& chain = chains_[i];
    if (!chain.chosen) continue;
    chain.chosen = depths[i] > 0;
    // Beside others that draft a probe is one row more.
    chain.depth = record_.decided ? chain.sequence->probe.depth(depths[i], deciding_[i].limit) : 0;
    model_rows_ += chain.depth;
  }
  if (record_.decided) {
    probe_ = {};
  } else {
    probe();
  }
  for (const Chain& chain : chains_) ++record_.depths[chain.depth];
  std::erase_if(chains_, [](const Chain& chain) { return chain.depth == 0; });
}

// Where nobody drafts a probe is a draft step of its own: one sequence makes it for all, each in its turn.
void Speculation::probe() {
  uint32_t able = 0;
  for (const DraftingSequence& sequence : deciding_) able += sequence.limit > 0 ? 1 : 0;
  if (able == 0 || probe_.depth(0, 1) == 0) return;
  uint32_t turn = turn_++ % able;
  for (size_t i = 0; i < chains_.size(); ++i) {
    if (deciding_[i].limit == 0 || turn-- > 0) continue;
    chains_[i].depth = 1;
    probing_ = chains_[i].sequence;
    ++model_rows_;
    return;
  }
}

// One draft more for those that have `drafts` and want another.
Status Speculation::extend(uint32_t drafts) {
  packet_.tokens.clear();
  packet_.sequences.clear();
  in_step_.clear();
  for (const Chain& chain : chains_) {
    if (chain.depth <= drafts) continue;
    const Sequence& sequence = *chain.sequence;
    const auto row = static_cast<uint32_t>(packet_.tokens.size());
    packet_.tokens.push_back(drafts == 0 ? sequence.tokens.back() : sequence.drafts.back());
    packet_.sequences.push_back({*sequence.slot, row, 1, sequence.committed + drafts, plan::StepKind::kDraft});
    in_step_.push_back(&sequence);
  }
  const auto rows = static_cast<uint32_t>(packet_.tokens.size());
  packet_.returns.assign(rows, plan::RowReturn::kDraft);
  packet_.masks.assign(rows, {0, static_cast<uint32_t>(vocabulary_.unsampled.size())});
  const auto head_rows = vocab_.rows();
  packet_.head_rows.assign(head_rows.begin(), head_rows.end());
  const auto start = Clock::now();
  TEAPOT_CHECK(run(plan::PlanKind::kDraft));
  const double ms = ms_between(start, Clock::now());
  draft_cost_.observe(rows, ms);
  record_.draft_ms += ms;
  ++record_.draft_steps;
  uint32_t result = 0;
  for (Chain& chain : chains_) {
    if (chain.depth > drafts) take(chain, result++, rows);
  }
  return {};
}

void Speculation::take(Chain& chain, uint32_t result, uint32_t drafting) {
  Sequence& sequence = *chain.sequence;
  int32_t id = result_.argmax[result];
  if (options_.replace_draft) {
    const auto known = static_cast<uint32_t>(sequence.tokens.size()), index = static_cast<uint32_t>(sequence.drafts.size());
    id = options_.replace_draft({sequence.job->id, sequence.choice, known + index, index, id});
  }
  if (id < 0) {  // NaN: the model will say so of its own rows, if that is where it comes from
    chain.depth = static_cast<uint32_t>(sequence.drafts.size());
    return;
  }
  sequence.drafts.push_back(id);
  if (options_.replace_draft) return;
  const float probability = result_.probability[result];
  sequence.draft_probabilities[sequence.drafts.size() - 1] = probability;
  chain.chance *= confidence_.chance(probability);
  if (!chain.chosen || sequence.drafts.size() == chain.depth) return;
  const auto made = static_cast<uint32_t>(sequence.drafts.size());
  if (!depth_.next_pays(chain.chance * sequence.acceptance->of(made + 1), drafting, model_rows_ - (chain.depth - made))) {
    model_rows_ -= chain.depth - made;
    chain.depth = made;
  }
}

// A draft is made before it is known how likely it is.
void Speculation::drop_what_does_not_pay() {
  if (options_.replace_draft) return;
  for (const Chain& chain : chains_) {
    if (!chain.chosen) continue;
    Sequence& sequence = *chain.sequence;
    double chance = chain.chance;
    while (!sequence.drafts.empty() && !depth_.row_pays(chance, model_rows_ - 1)) {
      chance /= confidence_.chance(sequence.draft_probabilities[sequence.drafts.size() - 1]);
      sequence.drafts.pop_back();
      --model_rows_;
    }
  }
}

Result<plan::PlanKind> Speculation::prepare(std::span<const std::unique_ptr<Sequence>> sequences, const plan::StepPacket& packet) {
  if (!on()) return plan::PlanKind::kModel;
  const bool plain = std::ranges::all_of(packet.sequences, [](const auto& rows) { return rows.kind == plan::StepKind::kDecode; });
  lagging_.clear();
  for (const auto& sequence : sequences) {
    if (sequence->rows == 0) continue;
    const uint32_t behind = lag(*sequence);
    if (plain ? behind + sequence->rows >= plan::kHiddenRows : behind > 0) lagging_.push_back(sequence.get());
  }
  TEAPOT_CHECK(catch_up(lagging_));
  return plain ? plan::PlanKind::kModel : plan::PlanKind::kModelMtp;
}

Status Speculation::catch_up(std::span<Sequence* const> sequences) {
  if (sequences.empty()) return {};
  packet_.tokens.clear();
  packet_.sequences.clear();
  packet_.head_rows.clear();
  in_step_.clear();
  for (const Sequence* const sequence : sequences) {
    const uint32_t from = backend_.mtp_committed(*sequence->slot), first = static_cast<uint32_t>(packet_.tokens.size());
    packet_.tokens.insert(packet_.tokens.end(), sequence->tokens.begin() + from, sequence->tokens.begin() + sequence->committed);
    packet_.sequences.push_back({*sequence->slot, first, sequence->committed - from, from, plan::StepKind::kDecode});
    in_step_.push_back(sequence);
  }
  packet_.returns.assign(packet_.tokens.size(), plan::RowReturn::kNothing);
  packet_.masks.clear();
  const auto start = Clock::now();
  TEAPOT_CHECK(run(plan::PlanKind::kMtpState));
  const double ms = ms_between(start, Clock::now());
  catch_up_ms_ += catch_up_ms_ == 0 ? ms : kWeight * (ms - catch_up_ms_);
  record_.catch_up_ms += ms;
  return {};
}

Status Speculation::run(plan::PlanKind kind) {
  TEAPOT_TRY(const plan::PlanId plan, get_plan(plans_, {static_cast<uint32_t>(packet_.tokens.size()), kind}, recorder_));
  const auto running = recorder_.slice("sched", "run");
  TEAPOT_CHECK(backend_.run(plan, packet_, result_));
  recorder_.ran(kind == plan::PlanKind::kDraft ? "draft/" : "catch_up/", plan);
  return {};
}

void Speculation::ended(uint32_t tokens, uint32_t sequences, double ms) {
  if (!on() || sequences >= gains_.size()) return;
  if (record_.draft_steps > 0) record_.saved_ms = tokens * cost_.ms(sequences) / sequences - ms - record_.ms();
  if (record_.draft_steps == 0) {
    gains_[sequences].plain(ms);
  } else if (record_.decided && !ordered_) {
    gains_[sequences].drafted(static_cast<double>(tokens) / sequences, ms + record_.ms());
  }
}

void Speculation::verified(Sequence& sequence, uint32_t judged, uint32_t accepted) {
  const auto made = static_cast<uint32_t>(sequence.drafts.size());
  if (made == 0) return;
  sequence.drafted.add(made, accepted);
  record_.drafts.add(made, accepted);
  sequence.acceptance->observe(judged, accepted);
  if (judged > 0) (&sequence == probing_ ? probe_ : sequence.probe).observe(accepted > 0);
  if (options_.replace_draft) return;
  for (uint32_t i = 0; i < judged; ++i) confidence_.observe(sequence.draft_probabilities[i], i < accepted);
}

}  // namespace teapot::engine
