#include "server/figures.h"

#include <algorithm>

namespace teapot::server {
namespace {

// vLLM's bounds, which its dashboards expect, and finer ones below: a small model gives a token in less than a millisecond.
const std::vector<double> kTokenSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
                                           0.4,    0.5,   0.75,   1,     2.5,  5,     7.5,  10,    20,  40,   80};
const std::vector<double> kFirstTokenSeconds = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                                                1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
const std::vector<double> kRequestSeconds = {0.01, 0.05, 0.1, 0.3, 0.5, 0.8, 1,   1.5, 2,   2.5, 5,    10,
                                             15,   20,   30,  40,  50,  60,  120, 240, 480, 960, 1920, 7680};
const std::vector<double> kTokens = {1,    2,    5,     10,    20,    50,     100,    200,    500, 1000,
                                     2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1e6};
const std::vector<double> kHostSeconds = {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 1};
const std::vector<double> kShares = {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1};

// Of the memory for running sequences; the cache's checkpoints can go at any time and do not count.
double kv_usage(const EngineFigures& now) {
  const engine::EngineStatus& status = now.status;
  if (status.state_budget == 0) return 0;
  const uint64_t in_use = status.state_used - std::min(status.state_used, status.cache_used);
  return std::min(1.0, static_cast<double>(in_use) / static_cast<double>(status.state_budget));
}

template <auto kMember>
double of_status(const EngineFigures& now) {
  return static_cast<double>(now.status.*kMember);
}

template <auto kMember>
double of_load(const EngineFigures& now) {
  return static_cast<double>(now.load.*kMember);
}

using Status = engine::EngineStatus;
using Load = engine::Engine::Load;
constexpr bool kGauge = false, kCounter = true;

const ReadFigure kRead[] = {
    {{"teapot_sequences_running", "Sequences in the steps now.", {"vllm:num_requests_running"}}, kGauge, of_load<&Load::running>},
    {{"teapot_requests_waiting", "Requests that wait for room.", {"vllm:num_requests_waiting"}}, kGauge, of_load<&Load::waiting>},
    {{"teapot_kv_cache_usage_ratio",
      "Of the memory for the states of running sequences, the share in use.",
      {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"}},
     kGauge,
     kv_usage},
    {{"teapot_weight_bytes", "The weights, as they lie in memory."}, kGauge, of_status<&Status::weights>},
    {{"teapot_scratch_bytes", "What steps work in."}, kGauge, of_status<&Status::scratch>},
    {{"teapot_state_budget_bytes", "Memory for the states of running sequences."}, kGauge, of_status<&Status::state_budget>},
    {{"teapot_state_promised_bytes", "What the states of running sequences may come to."}, kGauge, of_status<&Status::state_promised>},
    {{"teapot_state_used_bytes", "States in use, the prefix cache's among them."}, kGauge, of_status<&Status::state_used>},
    {{"teapot_state_kept_bytes", "Taken from the system, free for the next sequences."}, kGauge, of_status<&Status::state_kept>},
    {{"teapot_kv_pages", "Pages of the KV cache in use, shared ones once."}, kGauge, of_status<&Status::kv_pages>},
    {{"teapot_prefix_cache_budget_bytes", "What the prefix cache may take."}, kGauge, of_status<&Status::cache_budget>},
    {{"teapot_prefix_cache_bytes", "What the prefix cache takes."}, kGauge, of_status<&Status::cache_used>},
    {{"teapot_prefix_cache_checkpoints", "States of prefixes in the cache."}, kGauge, of_status<&Status::checkpoints>},
    {{"teapot_prefix_cache_evictions_total", "Checkpoints that gave way to others."}, kCounter, of_status<&Status::evictions>},
    {{"teapot_prefix_cache_queries_total", "Prompt tokens looked for in the prefix cache.", {"vllm:prefix_cache_queries_total"}},
     kCounter,
     of_status<&Status::cache_queries>},
    {{"teapot_prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", {"vllm:prefix_cache_hits_total"}},
     kCounter,
     of_status<&Status::cache_hits>},
    {{"teapot_prompt_tokens_total", "Tokens of prompts that began.", {"vllm:prompt_tokens_total"}},
     kCounter,
     of_status<&Status::prompt_tokens>},
    {{"teapot_prefilled_tokens_total", "Prompt tokens computed: those that were not in the cache."},
     kCounter,
     of_status<&Status::prefilled_tokens>},
    {{"teapot_generation_tokens_total", "Tokens of replies.", {"vllm:generation_tokens_total"}},
     kCounter,
     of_status<&Status::generation_tokens>},
    {{"teapot_draft_vocab_hits_total", "Sampled tokens that a draft could have said."}, kCounter, of_status<&Status::draft_vocab_hits>},
    {{"teapot_draft_vocab_misses_total", "Sampled tokens that no draft could have said."},
     kCounter,
     of_status<&Status::draft_vocab_misses>},
    {{"teapot_steps_total", "Steps."}, kCounter, of_status<&Status::steps>},
    {{"teapot_plan_hits_total", "Steps whose plan was ready."}, kCounter, of_status<&Status::plan_hits>},
    {{"teapot_plan_misses_total", "Steps that had to wait for their plan."}, kCounter, of_status<&Status::plan_misses>},
};

struct DistributionRow {
  Distribution distribution;
  DistributionFigure figure;
};

const DistributionRow kDistributions[] = {
    {Distribution::kTimeToFirstToken,
     {{"teapot_time_to_first_token_seconds", "From submission to the first token.", {"vllm:time_to_first_token_seconds"}},
      kFirstTokenSeconds}},
    {Distribution::kInterToken,
     {{"teapot_inter_token_latency_seconds",
       "Between two tokens of a reply.",
       {"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"}},
      kTokenSeconds}},
    {Distribution::kPerOutputToken,
     {{"teapot_time_per_output_token_seconds",
       "The mean of a reply's tokens after the first.",
       {"vllm:request_time_per_output_token_seconds"}},
      kTokenSeconds}},
    {Distribution::kEndToEnd,
     {{"teapot_request_seconds", "From submission to the last token.", {"vllm:e2e_request_latency_seconds"}}, kRequestSeconds}},
    {Distribution::kQueue,
     {{"teapot_request_queue_seconds", "From submission to the first step.", {"vllm:request_queue_time_seconds"}}, kRequestSeconds}},
    {Distribution::kPrefill,
     {{"teapot_request_prefill_seconds", "From the first step to the first token.", {"vllm:request_prefill_time_seconds"}},
      kRequestSeconds}},
    {Distribution::kDecode,
     {{"teapot_request_decode_seconds", "From the first token to the last.", {"vllm:request_decode_time_seconds"}}, kRequestSeconds}},
    {Distribution::kPromptTokens, {{"teapot_request_prompt_tokens", "Tokens of a prompt.", {"vllm:request_prompt_tokens"}}, kTokens}},
    {Distribution::kReplyTokens, {{"teapot_request_generation_tokens", "Tokens of a reply.", {"vllm:request_generation_tokens"}}, kTokens}},
    {Distribution::kStep,
     {{"teapot_step_seconds",
       "A step's run. kind: decode, verify where drafts are among its rows, prefill, or mixed where it has rows of prompts, too; rows: the "
       "least power of two that holds them all."},
      kTokenSeconds}},
    {Distribution::kStepHost,
     {{"teapot_step_host_seconds", "What the decode thread works between two steps: packet, sampling, bookkeeping."}, kHostSeconds}},
    {Distribution::kStepGap,
     {{"teapot_step_gap_seconds", "Between the end of a step and the start of the next, by the clock."}, kHostSeconds}},
    {Distribution::kStepWaitShare,
     {{"teapot_step_wait_ratio", "Of the workers' time in a step, the share that they waited for each other."}, kShares}},
    {Distribution::kDraft, {{"teapot_draft_seconds", "Draft steps before a step."}, kTokenSeconds}},
    {Distribution::kCatchUp,
     {{"teapot_draft_catch_up_seconds", "The MTP layer, with tokens that were decoded without it."}, kTokenSeconds}},
    {Distribution::kReplay,
     {{"teapot_step_replay_seconds",
       "Of a step with drafts or after one: moving recurrent states over accepted tokens, their way through memory (which a step without "
       "has, too) included, and keeping the log of drafts."},
      kHostSeconds}},
    {Distribution::kSample, {{"teapot_step_sample_seconds", "Sampling after a step, and whether its drafts hold."}, kHostSeconds}},
};

const FigureName kEvents[] = {
    {"teapot_requests_finished_total", "Choices that ended, by reason.", {"vllm:request_success_total"}},
    {"teapot_step_stalls_total", "Steps that took longer than the time-out."},
    {"teapot_draft_rounds_total", "Steps with drafts, of each sequence.", {"vllm:spec_decode_num_drafts_total"}},
    {"teapot_draft_tokens_total", "Drafts.", {"vllm:spec_decode_num_draft_tokens_total"}},
    {"teapot_draft_accepted_total", "Drafts that held.", {"vllm:spec_decode_num_accepted_tokens_total"}},
    {"teapot_draft_tokens_by_position_total", "Drafts by their place in their step."},
    {"teapot_draft_accepted_by_position_total",
     "Drafts that held by their place in their step.",
     {"vllm:spec_decode_num_accepted_tokens_per_pos_total"}},
    {"teapot_draft_depth_total", "Steps of sequences by how many drafts were chosen for them."},
    {"teapot_draft_saved_seconds_total", "About: by steps with drafts, against plain ones that would have made as many tokens."},
    {"teapot_draft_lost_seconds_total", "About: by steps with drafts that took longer than plain ones would have."},
};
static_assert(std::size(kEvents) == static_cast<size_t>(Event::kCount));

}  // namespace

const FigureName kLoadedFigure = {"teapot_model_loaded_ratio", "Of the model's bytes, the share that is loaded; 1: requests are served."};

std::span<const ReadFigure> read_figures() { return kRead; }

const DistributionFigure& figure(Distribution distribution) {
  return std::ranges::find(kDistributions, distribution, &DistributionRow::distribution)->figure;
}

const FigureName& figure(Event event) { return kEvents[static_cast<size_t>(event)]; }

}  // namespace teapot::server
