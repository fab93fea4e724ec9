#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "engine/philox.h"

namespace teapot::engine {
namespace {

constexpr float kOut = -std::numeric_limits<float>::infinity();

// A weight below this share of the largest is no chance at all: 2^20 of them together are below the 2^-53 that a random number resolves.
constexpr double kNoChance = -52;  // ln(2^-75)

template <class T>
Status in_range(const char* name, T value, T low, T high) {
  if (value >= low && value <= high) return {};  // false for NaN
  return fail(ErrorKind::kInvalid, "{} is {}; expected a number from {} to {}", name, value, low, high);
}

std::vector<int32_t> stops_of(const GenerateRequest& request, const Vocabulary& vocabulary) {
  std::vector<int32_t> stops = request.stop_token_ids;
  if (!request.ignore_eos) stops.insert(stops.end(), vocabulary.stops.begin(), vocabulary.stops.end());
  std::ranges::sort(stops);
  const auto repeated = std::ranges::unique(stops);
  stops.erase(repeated.begin(), repeated.end());
  return stops;
}

Error broken(uint64_t position) {
  return {ErrorKind::kInternal, fmt::format("the logits after {} tokens hold NaN or infinity: the model's weights are broken", position)};
}

Error nothing_left(uint64_t position) {
  return {ErrorKind::kInternal, fmt::format("no token is left to choose from at position {}", position)};
}

}  // namespace

uint64_t fresh_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

Status Sampler::check(const GenerateRequest& request, const Vocabulary& vocabulary) {
  const SamplingParams& p = request.sampling;
  const float huge = std::numeric_limits<float>::max();
  TEAPOT_CHECK(in_range("temperature", p.temperature, 0.0f, huge));
  TEAPOT_CHECK(in_range("top_k", p.top_k, -1, std::numeric_limits<int>::max()));
  TEAPOT_CHECK(in_range("top_p", p.top_p, 0.0f, 1.0f));
  TEAPOT_CHECK(in_range("min_p", p.min_p, 0.0f, 1.0f));
  TEAPOT_CHECK(in_range("presence_penalty", p.presence_penalty, -2.0f, 2.0f));
  TEAPOT_CHECK(in_range("frequency_penalty", p.frequency_penalty, -2.0f, 2.0f));
  TEAPOT_CHECK(in_range("repetition_penalty", p.repetition_penalty, std::numeric_limits<float>::min(), huge));
  const auto check_id = [&](const char* name, int32_t id) -> Status {
    if (id >= 0 && static_cast<uint32_t>(id) < vocabulary.rows && !std::ranges::binary_search(vocabulary.unsampled, id)) return {};
    return fail(ErrorKind::kInvalid, "{}: no token has the id {} (the vocabulary has {} rows)", name, id, vocabulary.rows);
  };
  for (const auto& [id, bias] : p.logit_bias) {
    TEAPOT_CHECK(check_id("logit_bias", id));
    TEAPOT_CHECK(in_range("logit_bias", bias, -100.0f, 100.0f));
  }
  for (const int32_t id : request.stop_token_ids) TEAPOT_CHECK(check_id("stop_token_ids", id));
  if (request.max_tokens > 0 && request.min_tokens > request.max_tokens) {
    return fail(ErrorKind::kInvalid, "min_tokens is {}; expected at most max_tokens ({})", request.min_tokens, request.max_tokens);
  }
  if (request.top_logprobs.value_or(0) > vocabulary.rows) {
    return fail(ErrorKind::kInvalid, "top_logprobs is {}; the vocabulary has {} rows", *request.top_logprobs, vocabulary.rows);
  }
  return {};
}

Sampler::Sampler(const GenerateRequest& request, const Vocabulary& vocabulary, uint32_t choice)
    : vocabulary_(vocabulary),
      params_(request.sampling),
      seed_(request.sampling.seed ? *request.sampling.seed : fresh_seed()),
      choice_(choice),
      min_tokens_(request.min_tokens),
      top_logprobs_(request.top_logprobs),
      stops_(stops_of(request, vocabulary)),
      penalise_(params_.presence_penalty != 0 || params_.frequency_penalty != 0 || params_.repetition_penalty != 1) {
  collect_biases(waits(), biases_);
  if (waits()) collect_biases(false, later_);
  if (!penalise_) return;
  counts_.resize(vocabulary.rows);
  is_seen_.resize(vocabulary.rows);
  for (const int32_t id : request.prompt) {
    if (is_seen_[static_cast<size_t>(id)]) continue;
    is_seen_[static_cast<size_t>(id)] = true;
    seen_.push_back(id);
  }
}

plan::RowReturn Sampler::wants() const {
  if (penalise_ || top_logprobs_) return plan::RowReturn::kLogits;
  if (params_.temperature == 0) return plan::RowReturn::kArgmax;
  const bool few = params_.top_k > 0 && top_k() <= plan::kMaxTopK && top_k() < vocabulary_.rows;
  return few ? plan::RowReturn::kTopK : plan::RowReturn::kLogits;
}

void Sampler::biases(uint32_t ahead, std::vector<plan::LogitBias>& out) const {
  const std::vector<plan::LogitBias>& biases = waits(ahead) == waits() ? biases_ : later_;
  out.insert(out.end(), biases.begin(), biases.end());
}

bool Sampler::plain_mask(uint32_t ahead) const { return params_.logit_bias.empty() && !waits(ahead); }

void Sampler::collect_biases(bool waits, std::vector<plan::LogitBias>& out) const {
  for (const int32_t id : vocabulary_.unsampled) out.push_back({id, kOut});
  for (const auto& [id, bias] : params_.logit_bias) out.push_back({id, bias});
  if (waits) {
    for (const int32_t id : stops_) out.push_back({id, kOut});
  }
  // Of several for one id the lowest stays: what is out is out, whatever else the request says of it.
  std::ranges::sort(out, [](const auto& a, const auto& b) { return a.id < b.id || (a.id == b.id && a.bias < b.bias); });
  const auto repeated = std::ranges::unique(out, {}, &plan::LogitBias::id);
  out.erase(repeated.begin(), repeated.end());
}

Result<TokenEvent> Sampler::sample(std::span<float> logits, uint64_t position) {
  if (!all_finite(logits)) return std::unexpected(broken(position));
  if (top_logprobs_) raw_.assign(logits.begin(), logits.end());
  adjust(logits);
  TEAPOT_TRY(const int32_t id, choose(logits, position));
  TokenEvent event = accept(id);
  if (top_logprobs_) add_logprobs(raw_, event);
  return event;
}

Result<TokenEvent> Sampler::sample(std::span<const plan::Candidate> top, uint64_t position) {
  if (top.empty()) return std::unexpected(no_best(position));
  if (!std::isfinite(top.front().logit)) return std::unexpected(broken(position));
  return accept(draw_from_top(top.first(std::min<size_t>(top.size(), top_k())), uniform(seed_, position, choice_)));
}

Result<TokenEvent> Sampler::take(int32_t argmax, float max, uint64_t position) {
  if (argmax < 0) return std::unexpected(no_best(position));
  if (!std::isfinite(max)) return std::unexpected(broken(position));
  return accept(argmax);
}

Result<TokenEvent> Sampler::score(std::span<const float> logits, int32_t id) {
  if (!all_finite(logits)) return fail(ErrorKind::kInternal, "the logits hold NaN or infinity: the model's weights are broken");
  TokenEvent event{.id = id};
  add_logprobs(logits, event);
  return event;
}

void Sampler::adjust(std::span<float> logits) const {
  for (const auto& [id, bias] : biases_) logits[static_cast<size_t>(id)] += bias;
  if (!penalise_) return;
  for (const int32_t id : seen_) {
    float& z = logits[static_cast<size_t>(id)];  // what is out stays out
    z = z > 0 ? z / params_.repetition_penalty : z * params_.repetition_penalty;
    if (const uint32_t n = counts_[static_cast<size_t>(id)]) {
      z -= params_.frequency_penalty * static_cast<float>(n) + params_.presence_penalty;
    }
  }
}

// A row without a best one: all ids are out, which the biases tell, or its logits hold NaN.
Error Sampler::no_best(uint64_t position) const {
  const auto out = std::ranges::count(biases_, kOut, &plan::LogitBias::bias);
  return static_cast<size_t>(out) == vocabulary_.rows ? nothing_left(position) : broken(position);
}

Result<int32_t> Sampler::choose(std::span<const float> logits, uint64_t position) {
  const plan::Candidate top = largest(logits);
  if (top.id < 0) return std::unexpected(nothing_left(position));
  if (params_.temperature == 0) return top.id;

  const double u = uniform(seed_, position, choice_);
  if (top_k() > 0 && top_k() < logits.size()) {
    largest(logits, top_k(), candidates_);
    return draw_from_top(candidates_, u);
  }
  if (params_.top_p == 1 && params_.min_p == 0) return draw_from_all(logits, top.logit, u);
  const double total = gather_likely(logits, top.logit);
  return draw_from(candidates_, total, u);
}

int32_t Sampler::draw_from_top(std::span<const plan::Candidate> top, double u) {
  const double inverse = 1.0 / params_.temperature;
  double total = 0;
  for (const plan::Candidate& c : top) total += std::exp((static_cast<double>(c.logit) - top.front().logit) * inverse);
  return draw_from(top, total, u);
}

// candidates: by falling weight, as many as top_k, top_p or min_p can need. total: what top_p is a share of.
int32_t Sampler::draw_from(std::span<const plan::Candidate> candidates, double total, double u) {
  const double inverse = 1.0 / params_.temperature;
  // At top_p 1 everything stays: rounding in the sums must not cut the tail.
  const auto enough = [&](double sum) { return params_.top_p < 1 && sum >= params_.top_p * total; };
  weights_.clear();
  double sum = 0;
  for (const plan::Candidate& c : candidates) {
    const double w = std::exp((static_cast<double>(c.logit) - candidates.front().logit) * inverse);
    if (!weights_.empty() && (w < params_.min_p || enough(sum))) break;
    weights_.push_back(w);
    sum += w;
  }
  const double target = u * sum;
  double passed = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    passed += weights_[i];
    if (target < passed) return candidates[i].id;
  }
  return candidates[weights_.size() - 1].id;
}

// Few tokens make up top_p, as a rule, and only they are worth sorting. How deep below the best they lie is found without an order: shares
// are summed in bins of the scaled logit. One bin more than needed is taken, since the sums are rounded in another order than choose's.
// Returns the sum of all weights.
double Sampler::gather_likely(std::span<const float> logits, float top) {
  constexpr size_t kBins = 1024;
  constexpr double kBinsPerNat = 16;  // 64 nats in all: what lies below has no share to speak of
  const double inverse = 1.0 / params_.temperature;
  weights_.assign(kBins, 0);
  double total = 0;
  for (const float z : logits) {
    const double below = (static_cast<double>(top) - z) * inverse;
    const double w = std::exp(-below);
    weights_[static_cast<size_t>(std::min(below * kBinsPerNat, kBins - 1.0))] += w;
    total += w;
  }
  double depth = std::numeric_limits<double>::infinity();
  if (params_.top_p < 1) {
    size_t bins = 0;
    for (double sum = 0; bins < kBins && sum < params_.top_p * total; ++bins) sum += weights_[bins];
    if (bins + 1 < kBins) depth = static_cast<double>(bins + 1) / kBinsPerNat;
  }
  if (params_.min_p > 0) depth = std::min(depth, 1 / kBinsPerNat - std::log(static_cast<double>(params_.min_p)));
  from(logits, top - depth / inverse, candidates_);
  return total;
}

// By rising id, without sorting. The sums of blocks are kept, so that only one block's weights are computed twice.
int32_t Sampler::draw_from_all(std::span<const float> logits, float top, double u) {
  constexpr size_t kBlock = 1024;
  const double inverse = 1.0 / params_.temperature;
  const auto weight = [&](float z) {
    const double x = (static_cast<double>(z) - top) * inverse;
    return x < kNoChance ? 0 : std::exp(x);
  };
  weights_.clear();
  double total = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kBlock) {
    double sum = 0;
    for (const float z : logits.subspan(begin, std::min(kBlock, logits.size() - begin))) sum += weight(z);
    weights_.push_back(sum);
    total += sum;
  }
  double left = u * total;
  size_t block = 0;
  size_t last = 0;  // the last block with any weight: where rounding may leave us at the end
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] > 0) last = i;
  }
  while (block < last && left >= weights_[block]) left -= weights_[block++];
  int32_t chosen = -1;
  for (size_t i = block * kBlock; i < std::min(logits.size(), (block + 1) * kBlock); ++i) {
    const double w = weight(logits[i]);
    if (w == 0) continue;
    chosen = static_cast<int32_t>(i);
    if (left < w) break;
    left -= w;
  }
  return chosen;
}

void Sampler::add_logprobs(std::span<const float> logits, TokenEvent& event) {
  const double normaliser = log_sum_exp(logits);
  const auto logprob = [&](float z) { return static_cast<float>(z - normaliser); };
  event.logprob = logprob(logits[static_cast<size_t>(event.id)]);
  const uint32_t wanted = top_logprobs_.value_or(0);
  if (wanted == 0) return;
  // Padding rows have no text to be shown with: take as many more, leave them out.
  largest(logits, wanted + vocabulary_.unsampled.size(), candidates_);
  for (const plan::Candidate& c : candidates_) {
    if (std::ranges::binary_search(vocabulary_.unsampled, c.id)) continue;
    event.top.push_back({c.id, logprob(c.logit)});
    if (event.top.size() == wanted) break;
  }
}

TokenEvent Sampler::accept(int32_t id) {
  const bool waited = waits();
  ++sampled_;
  if (waited && !waits()) biases_ = std::move(later_);
  if (penalise_) {
    ++counts_[static_cast<size_t>(id)];
    if (!is_seen_[static_cast<size_t>(id)]) {
      is_seen_[static_cast<size_t>(id)] = true;
      seen_.push_back(id);
    }
  }
  return {.id = id, .is_stop = std::ranges::binary_search(stops_, id)};
}

}  // namespace teapot::engine
