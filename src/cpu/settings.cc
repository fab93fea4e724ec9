#include "cpu/settings.h"

#include "base/cpu_quota.h"
#include "cpu/isa.h"

namespace teapot::cpu {
namespace {

constexpr int kMaxThreads = 1024;

template <class T>
struct Choice {
  const char* name;
  T value;
};
constexpr Choice<KvType> kKvTypes[] = {{"f32", kKvF32}, {"bf16", kKvBF16}, {"f16", kKvF16}};
constexpr Choice<bool> kActivations[] = {{"auto", true}, {"f32", false}, {"int8", true}};
constexpr Choice<Pages> kPages[] = {
    {"4k", Pages::k4k}, {"thp", Pages::kThp}, {"2m", Pages::k2m}, {"1g", Pages::k1g}, {"best", Pages::kBest}};
constexpr Choice<Bind> kBinds[] = {{"off", Bind::kOff}, {"core", Bind::kCore}, {"numa", Bind::kNuma}};
constexpr Choice<Wait> kWaits[] = {{"futex", Wait::kFutex}, {"spin", Wait::kSpin}, {"spin-futex", Wait::kSpinFutex}};
constexpr Choice<PlanMode> kPlans[] = {{"eager", PlanMode::kEager}, {"dynamic", PlanMode::kDynamic}, {"static", PlanMode::kStatic}};
constexpr Choice<Sync> kSyncs[] = {{"op", Sync::kOp}, {"layer", Sync::kLayer}, {"flags", Sync::kFlags}};
constexpr Choice<bool> kSharedExperts[] = {{"serial", true}, {"fused", false}};
constexpr Choice<bool> kGdns[] = {{"split", true}, {"fused", false}};
constexpr Choice<bool> kHeads[] = {{"full", true}, {"argmax", false}};
constexpr Choice<bool> kStateTypes[] = {{"bf16", true}, {"f32", false}};
constexpr Choice<Attention> kAttentions[] = {{"head", Attention::kHead}, {"split", Attention::kSplit}, {"auto", Attention::kAuto}};
constexpr Choice<Prefetch> kPrefetches[] = {
    {"off", Prefetch::kOff}, {"shared", Prefetch::kShared}, {"routed", Prefetch::kRouted}, {"all", Prefetch::kAll}};
constexpr Choice<bool> kPrepacks[] = {{"off", false}, {"on", true}};
constexpr Choice<bool> kAllocs[] = {{"malloc", true}, {"arena", false}};

template <class T, size_t n>
Result<T> choose(const char* option, const std::string& name, const Choice<T> (&choices)[n]) {
  std::string known;
  for (const auto& choice : choices) {
    if (name == choice.name) return choice.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
  }
  return fail(ErrorKind::kInvalid, "{}: {:?} is none of {}", option, name, known);
}

Status settle_pages(const Options& options, Settings& settings) {
  TEAPOT_TRY(settings.pages, choose("pages", options.pages, kPages));
  const PagesReport thp = supported_pages(Pages::kThp);
  if (settings.pages == Pages::kThp && thp.active != Pages::kThp) return fail(ErrorKind::kUnsupported, "pages: thp: {}", thp.reason);
  settings.executor.pages = settings.pages == Pages::k4k ? Pages::k4k : thp.active;
  return {};
}

Status settle_threads(const Options& options, Settings& settings) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return fail(ErrorKind::kInvalid, "threads: {}, expected 1 to {} (0: one a physical core)", options.threads, kMaxThreads);
  }
  TEAPOT_TRY(const Bind bind, choose("bind", options.bind, kBinds));
  TEAPOT_TRY(settings.waiting.wait, choose("wait", options.wait, kWaits));
  TEAPOT_TRY(settings.topology, read_topology());
  const Topology& topology = settings.topology;
  settings.workers = options.threads == 0 ? topology.cores.size() : static_cast<size_t>(options.threads);
  TEAPOT_TRY(settings.placement, place(topology, settings.workers, bind));
  settings.notes.push_back(
      fmt::format("{} thread{}: {}; {}", settings.workers, settings.workers == 1 ? "" : "s", settings.placement.text, topology.describe()));
  if (settings.workers > settings.placement.distinct_cpus) {
    // Whoever waits stands in the way of those that are waited for.
    settings.waiting.spin_us = 2;
    settings.notes.push_back(
        fmt::format("{} threads share {} processors: steps will be slow", settings.workers, settings.placement.distinct_cpus));
  }
  if (const auto quota = read_cpu_quota(); quota && quota->cpus < static_cast<double>(settings.workers)) {
    settings.notes.push_back(
        fmt::format("{} allows {:.2f} processors to {} threads: they will be stopped in the middle of steps; use fewer", quota->limited_by,
                    quota->cpus, settings.workers));
  }
  return {};
}

}  // namespace

Result<Settings> settle(const Options& options) {
  Settings settings;
  settings.options = options;
  TEAPOT_TRY(settings.kernels, select_kernels(options.isa));
  TEAPOT_TRY(settings.executor.kv_type, choose("kv-dtype", options.kv_dtype, kKvTypes));
  TEAPOT_TRY(settings.int8_activations, choose("activations", options.activations, kActivations));
  TEAPOT_TRY(settings.executor.plan, choose("plan", options.plan, kPlans));
  TEAPOT_TRY(settings.executor.sync, choose("sync", options.sync, kSyncs));
  TEAPOT_TRY(settings.executor.allocate_each_step, choose("alloc", options.alloc, kAllocs));
  TEAPOT_TRY(settings.prepack, choose("prepack", options.prepack, kPrepacks));
  TEAPOT_TRY(settings.levers.serial_shared_expert, choose("shared-expert", options.shared_expert, kSharedExperts));
  TEAPOT_TRY(settings.levers.split_gdn, choose("gdn", options.gdn, kGdns));
  TEAPOT_TRY(settings.levers.full_logits, choose("lmhead", options.lmhead, kHeads));
  TEAPOT_TRY(settings.levers.attention, choose("attn", options.attn, kAttentions));
  TEAPOT_TRY(settings.levers.prefetch, choose("prefetch", options.prefetch, kPrefetches));
  TEAPOT_TRY(settings.executor.bf16_state, choose("state-dtype", options.state_dtype, kStateTypes));
  TEAPOT_CHECK(settle_pages(options, settings));
  TEAPOT_CHECK(settle_threads(options, settings));
  return settings;
}

}  // namespace teapot::cpu
