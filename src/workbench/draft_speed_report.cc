#include <algorithm>
#include <numeric>

#include "workbench/draft_speed.h"

namespace teapot::workbench {
namespace {

Json spread_json(const Spread& spread) { return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}}; }

uint64_t sum(const std::array<uint64_t, engine::kMaxDrafts>& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

// Of a sequence with drafts.
double tokens_a_round(const engine::DraftCounts& drafts) {
  return drafts.rounds == 0 ? 1 : 1 + static_cast<double>(sum(drafts.accepted)) / static_cast<double>(drafts.rounds);
}

// Of those that were made, where the drafts before them held.
std::vector<double> chances(const engine::DraftCounts& drafts) {
  std::vector<double> result;
  uint64_t reached = drafts.rounds;
  for (size_t i = 0; i < drafts.drafted.size() && drafts.drafted[i] > 0; ++i) {
    const uint64_t tried = std::min(reached, drafts.drafted[i]);
    result.push_back(tried == 0 ? 0 : static_cast<double>(drafts.accepted[i]) / static_cast<double>(tried));
    reached = drafts.accepted[i];
  }
  return result;
}

// Of a round, drafts included.
double replay_share(const DraftSpeed& s) {
  const double round_ms = s.draft_ms + s.catch_up_ms + s.model_ms + s.sample_ms;
  return round_ms == 0 ? 0 : s.replay_ms / round_ms;
}

std::string origin(const DraftSpeedOptions& options) {
  if (options.accept_rates.empty()) return "drafts of the MTP layer";
  std::string text = "acceptance forced to ";
  for (size_t i = 0; i < options.accept_rates.size(); ++i) {
    text += fmt::format("{}{}", i > 0 ? ", then " : "", fmt::join(options.accept_rates[i], "/"));
  }
  return text;
}

}  // namespace

std::string to_text(const DraftSetting& setting) { return !setting ? "auto" : *setting == 0 ? "off" : fmt::format("{}", *setting); }

Json to_json(const DraftSpeeds& speeds) {
  Json rows = Json::array();
  for (const DraftSpeed& s : speeds.speeds) {
    rows.push_back({{"c", s.c},
                    {"mtp", to_text(s.setting)},
                    {"tpot_ms", spread_json(s.tpot_ms)},
                    {"gain", spread_json(s.gain)},
                    {"tokens_a_round", tokens_a_round(s.drafts)},
                    {"rounds", s.drafts.rounds},
                    {"drafted", s.drafts.drafted},
                    {"accepted", s.drafts.accepted},
                    {"acceptance", chances(s.drafts)},
                    {"steps", s.steps},
                    {"tokens", s.tokens},
                    {"draft_ms", s.draft_ms},
                    {"catch_up_ms", s.catch_up_ms},
                    {"model_ms", s.model_ms},
                    {"replay_ms", s.replay_ms},
                    {"replay_share", replay_share(s)},
                    {"sample_ms", s.sample_ms},
                    {"plan_misses", s.plan_misses},
                    {"replies_equal", s.equal}});
  }
  return {{"model", speeds.model},           {"drafts", origin(speeds.options)},        {"gen", speeds.options.gen},
          {"repeat", speeds.options.repeat}, {"draft_vocab_coverage", speeds.coverage}, {"speeds", std::move(rows)}};
}

std::string to_text(const DraftSpeeds& speeds) {
  std::string text = fmt::format("{}: {}; {} tokens a reply, {} turns. gain: TPOT without drafts by TPOT with them, turn by turn.\n",
                                 speeds.model, origin(speeds.options), speeds.options.gen, speeds.options.repeat);
  text += fmt::format("{:>3} {:>5} {:>9} {:>22} {:>12} {:>9} {:>9} {:>9} {:>9}  {}\n", "c", "mtp", "TPOT ms", "gain (min..max)",
                      "tokens/round", "draft ms", "model ms", "replay %", "sample ms", "acceptance by position");
  for (const DraftSpeed& s : speeds.speeds) {
    text += fmt::format("{:>3} {:>5} {:>9.2f} {:>22} {:>12.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.3f}  {:.3f}{}\n", s.c, to_text(s.setting),
                        s.tpot_ms.median, fmt::format("{:.3f} ({:.3f}..{:.3f})", s.gain.median, s.gain.min, s.gain.max),
                        tokens_a_round(s.drafts), s.draft_ms + s.catch_up_ms, s.model_ms, 100 * replay_share(s), s.sample_ms,
                        fmt::join(chances(s.drafts), " "), s.equal ? "" : "  REPLIES DIFFER");
  }
  text += fmt::format("draft vocabulary: {:.2f} % of the sampled tokens were in it\n", 100 * speeds.coverage);
  return text;
}

}  // namespace teapot::workbench
