#include "workbench/ladder/engine_bench.h"

#include <algorithm>
#include <charconv>

#include "base/memory.h"
#include "model/model.h"
#include "model/weight_bytes.h"
#include "workbench/eval/text_hash.h"
#include "workbench/prompt_token.h"

namespace teapot::workbench {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kStateBytes = 3 * kGiB / 2;  // of an engine: states, the prefix cache of these prompts, plans
constexpr double kPacked = 1.03;                // bytes of packed weights by those of the file, at most

uint64_t hash_of(const std::vector<std::vector<int32_t>>& replies) {
  TextHash hash;
  for (const auto& ids : replies) {
    hash.add(ids.size());
    for (const int32_t id : ids) hash.add(static_cast<uint64_t>(id));
  }
  return hash.value();
}

// "auto": as many as pay.
std::optional<uint32_t> depth_of(const std::string& mtp) {
  if (mtp == "auto") return std::nullopt;
  uint32_t depth = 0;  // "off"
  std::from_chars(mtp.data(), mtp.data() + mtp.size(), depth);
  return depth;
}

std::string& mtp_of(LeverSetting& setting) {
  return std::ranges::find(setting, "mtp", &std::pair<std::string, std::string>::first)->second;
}

Result<plan::SwitchReport> report_of(const engine::Engine& engine, const LadderRace& race) {
  const std::vector<plan::SwitchReport> switches = engine.switches();
  const auto report = std::ranges::find(switches, race.lever, &plan::SwitchReport::name);
  if (report != switches.end()) return *report;
  return fail(ErrorKind::kInvalid, "{}: '{}' is no lever; expected one of those of `teapot levers`", race.place, race.lever);
}

std::string shown(const plan::SwitchReport& report) {
  return report.active == report.requested || report.reason.empty() ? report.active : fmt::format("{}; {}", report.active, report.reason);
}

// "auto" and "best" leave the choice to the program; "int8, f32 for iq1_s" is int8 where it can be.
bool as_asked(const plan::SwitchReport& report) {
  return report.requested == "auto" || report.requested == "best" || report.active == report.requested ||
         report.active.starts_with(report.requested + ",");
}

std::optional<std::string> refusal_of(const plan::SwitchReport& before, const plan::SwitchReport& after) {
  for (const plan::SwitchReport* report : {&before, &after}) {
    if (!as_asked(*report)) return fmt::format("{} was asked for, active is {}", report->requested, shown(*report));
  }
  if (before.active != after.active) return std::nullopt;
  return fmt::format("inert here: {} and {} are both {}", before.requested, after.requested, shown(after));
}

}  // namespace

struct EngineBench::Loaded {
  std::unique_ptr<ForcedDrafts> forced;  // before the engine, which asks it
  engine::LoadedEngine engine;
  std::vector<std::vector<std::vector<int32_t>>> truth;  // [concurrency][sequence] replies without drafts
  bool used = false;                                     // a turn was timed
};

EngineBench::~EngineBench() = default;

Result<std::unique_ptr<EngineBench>> EngineBench::open(const EngineBenchOptions& options, const LadderOrder& order) {
  if (options.concurrency.empty() || options.gen < 2 || options.prompt == 0) {
    return fail(ErrorKind::kInvalid, "ladder: expected at least one number of sequences, one token of prompt, two of reply");
  }
  TEAPOT_CHECK(check_rates(options.accept_rates));
  std::unique_ptr<EngineBench> bench(new EngineBench(options));
  TEAPOT_CHECK(bench->choose_way(order));
  return bench;
}

Status EngineBench::choose_way(const LadderOrder& order) {
  TEAPOT_TRY(const engine::EngineOptions base, options_.engine_options({}));
  TEAPOT_TRY(const model::Model model, model::load_model(options_.model, base.weights));
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  const auto weights = static_cast<uint64_t>(static_cast<double>(model::count_weight_bytes(model).total()) * kPacked);
  const uint64_t needed = 2 * (weights + kStateBytes) + kGiB;  // loading streams through as much as 1 GiB
  const bool spins = base.backend.wait == "spin" || std::ranges::any_of(order.rungs, [](const LadderRung& rung) {
                       return rung.lever == "wait" && (rung.off == "spin" || rung.on == "spin");
                     });
  const bool fit = needed <= memory.available_bytes;
  const std::string sizes =
      fmt::format("2 x {:.1f} GB of weights, 2 x {:.1f} GB for states and 1.1 GB for loading {} {:.1f} GB ({})",
                  static_cast<double>(weights) / 1e9, static_cast<double>(kStateBytes) / 1e9, fit ? "fit in" : "don't fit in",
                  static_cast<double>(memory.available_bytes) / 1e9, memory.limited_by);
  both_at_once_ = options_.both_at_once.value_or(fit && !spins && !options_.reload);
  if (both_at_once_ && !fit) {
    return fail(ErrorKind::kMemory, "begun with both settings of a race loaded at once: {}; expected as much free memory again", sizes);
  }
  const std::string why = options_.reload ? "asked for"
                          : spins         ? "with wait=spin an idle engine would keep its processors"
                          : fit           ? "as the ladder was begun"
                                          : sizes;
  way_ = both_at_once_ ? "both settings of a race are loaded at once: " + sizes : "each turn loads its setting anew: " + why;
  return {};
}

// One engine for both arms has room for the deeper drafts.
void EngineBench::set_arms(const LadderRace& race) {
  Arm a{race.a}, b{race.b};
  if (!race.reload) {
    a.depth = depth_of(mtp_of(a.setting));
    b.depth = depth_of(mtp_of(b.setting));
    const std::string both = !a.depth || !b.depth ? "auto" : fmt::format("{}", std::max(*a.depth, *b.depth));
    mtp_of(a.setting) = mtp_of(b.setting) = both;
  }
  std::vector<std::shared_ptr<Loaded>> kept;
  for (Arm* next : {&a, &b}) {
    for (Arm* old : {&a_, &b_}) {
      if (next->engine || !old->engine || old->setting != next->setting) continue;
      next->engine = race.reload ? std::exchange(old->engine, nullptr) : old->engine;
    }
  }
  a_ = std::move(a);
  b_ = std::move(b);
}

Result<RaceStart> EngineBench::begin(const LadderRace& race) {
  set_arms(race);
  const bool rung = race.kind == LadderKind::kClimb || race.kind == LadderKind::kDrop;
  plan::SwitchReport switches[2];
  for (size_t i = 0; i < 2; ++i) {
    Arm& arm = i == 0 ? a_ : b_;
    if (Status there = provide(arm); !there) {
      // Reserved pages that are none, processors that may not be had: the host says no in many ways.
      if (rung && there.error().kind != ErrorKind::kInternal) return RaceStart{.refused = there.error().message};
      return std::unexpected(std::move(there).error());
    }
    if (rung) {
      TEAPOT_TRY(switches[i], report_of(*arm.engine->engine.engine, race));
    }
  }
  if (!rung) return RaceStart{};
  if (!race.reload) return RaceStart{.active = race.to};
  return RaceStart{.refused = refusal_of(switches[0], switches[1]), .active = shown(switches[1])};
}

// In the way that needs less memory, the other arm's engine goes first.
Status EngineBench::provide(Arm& arm) {
  if (arm.engine) return {};
  Arm& other = &arm == &a_ ? b_ : a_;
  if (other.setting == arm.setting && other.engine && arm.depth != other.depth) {
    arm.engine = other.engine;
    return {};
  }
  if (!both_at_once_) other.engine.reset();
  TEAPOT_TRY(arm.engine, load(arm.setting));
  return {};
}

Result<std::shared_ptr<EngineBench::Loaded>> EngineBench::load(const LeverSetting& setting) const {
  auto loaded = std::make_shared<Loaded>();
  TEAPOT_TRY(engine::EngineOptions own, options_.engine_options(setting));
  own.scheduler.max_seqs = std::ranges::max(options_.concurrency);
  own.max_queue = own.scheduler.max_seqs;
  loaded->forced = std::make_unique<ForcedDrafts>(options_.accept_rates, options_.gen);
  loaded->forced->install(own);
  TEAPOT_TRY(loaded->engine, engine::load_engine(options_.model, own, /*text_needed=*/false));
  TEAPOT_CHECK(warm_up(*loaded));
  return loaded;
}

// Reads the prompts, learns the true replies and, with drafts, lets the engine see how they do.
Status EngineBench::warm_up(Loaded& loaded) const {
  for (const uint32_t c : options_.concurrency) loaded.truth.emplace_back(c);
  for (size_t load = 0; load < options_.concurrency.size(); ++load) {
    TEAPOT_TRY(ReplyTurn plain, turn(loaded, load, 0));
    loaded.truth[load] = std::move(plain.ids);
    if (loaded.engine.engine->draft_limit() > 0) TEAPOT_CHECK(turn(loaded, load, std::nullopt));
  }
  return {};
}

Result<ReplyTurn> EngineBench::turn(const Loaded& loaded, size_t load, std::optional<uint32_t> depth) const {
  engine::Engine& engine = *loaded.engine.engine;
  std::vector<engine::GenerateRequest> requests;
  for (uint32_t s = 0; s < options_.concurrency[load]; ++s) {
    engine::GenerateRequest& request = requests.emplace_back();
    request.prompt = prompt(s, engine.config().vocab);
    request.sampling.temperature = 0;
    request.max_tokens = request.min_tokens = options_.gen;
    if (engine.generation().eos_ids.empty()) request.stop_token_ids = {0};
    request.draft_depth = depth;
    request.message_end = static_cast<uint32_t>(request.prompt.size() - 1);
  }
  return run_turn(engine, std::move(requests), *loaded.forced, loaded.truth[load]);
}

std::vector<int32_t> EngineBench::prompt(uint32_t sequence, uint32_t vocab) const {
  if (!options_.prompts.empty()) return options_.prompts[sequence % options_.prompts.size()];
  std::vector<int32_t> ids;
  ids.reserve(options_.prompt);
  for (uint32_t i = 0; i < options_.prompt; ++i) ids.push_back(prompt_token(sequence, i, vocab));
  return ids;
}

Result<std::vector<LadderTurn>> EngineBench::run(bool b) {
  Arm& arm = b ? b_ : a_;
  if (!both_at_once_ && arm.engine && arm.engine->used) {
    a_.engine.reset();
    b_.engine.reset();
  }
  TEAPOT_CHECK(provide(arm));
  arm.engine->used = true;
  std::vector<LadderTurn> turns;
  for (size_t load = 0; load < options_.concurrency.size(); ++load) {
    TEAPOT_TRY(const ReplyTurn replies, turn(*arm.engine, load, arm.depth));
    turns.push_back({options_.concurrency[load], replies.tpot_ms, hash_of(replies.ids)});
  }
  return turns;
}

}  // namespace teapot::workbench
