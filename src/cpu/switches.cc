#include <array>

#include "cpu/settings.h"

namespace teapot::cpu {
namespace {

struct Active {
  std::string value, reason;
};

Active isa(const SwitchFacts& facts) {
  return {facts.settings.kernels->isa, facts.settings.options.isa == "auto" ? "the best that this processor has" : ""};
}

Active kv_dtype(const SwitchFacts& facts) {
  return {facts.settings.options.kv_dtype,
          facts.saturated == 0 ? "" : fmt::format("{} values beyond ±65504 were saturated", facts.saturated)};
}

Active activations(const SwitchFacts& facts) {
  const Settings& settings = facts.settings;
  if (!settings.int8_activations || facts.weights == nullptr) return {settings.int8_activations ? "int8" : "f32", ""};
  bool quantised = false;
  std::array<bool, plan::kWeightTypes> without{};
  const std::vector<plan::Matrix>& matrices = facts.weights->table().matrices;
  for (size_t m = 0; m < matrices.size(); ++m) {
    if (plan::info(matrices[m].type).elements == 1) continue;
    quantised = true;
    const auto type = static_cast<size_t>(matrices[m].type);
    const bool tiled = facts.weights->tiled(static_cast<plan::MatrixId>(m));
    without[type] = without[type] || (tiled ? settings.kernels->tiled_q8 : settings.kernels->matmul_q8)[type] == nullptr;
  }
  if (!quantised) return {"f32", "no weights are quantised"};
  std::string types;
  for (size_t type = 0; type < plan::kWeightTypes; ++type) {
    if (without[type]) types += fmt::format("{}{}", types.empty() ? "" : ", ", plan::kWeightTypeInfo[type].name);
  }
  if (types.empty()) return {"int8", ""};
  return {"int8, f32 for " + types, fmt::format("{} has no int8 kernel for them", settings.kernels->isa)};
}

Active prepack(const SwitchFacts& facts) {
  if (!facts.settings.prepack || facts.weights == nullptr) return {facts.settings.options.prepack, ""};
  size_t tiled = 0;
  for (size_t m = 0; m < facts.weights->table().matrices.size(); ++m) tiled += facts.weights->tiled(static_cast<plan::MatrixId>(m)) ? 1 : 0;
  const size_t all = facts.weights->table().matrices.size();
  if (tiled == 0) return {"off", "no matrix has a type and a size that tiles are for"};
  return {"on", fmt::format("{} of {} matrices", tiled, all)};
}

Active pages(const SwitchFacts& facts) {
  if (facts.weights == nullptr) return {facts.settings.options.pages, ""};
  constexpr double kGB = 1e9;
  return {name(facts.weights->arena().pages()),
          fmt::format("{:.2f} of {:.2f} GB of the weights are in huge pages; states and scratch: {}",
                      static_cast<double>(facts.weight_usage.huge_bytes) / kGB,
                      static_cast<double>(facts.weight_usage.resident_bytes) / kGB, name(facts.settings.executor.pages))};
}

Active threads(const SwitchFacts& facts) { return {fmt::format("{}", facts.settings.workers), facts.settings.topology.describe()}; }

Active wait(const SwitchFacts& facts) {
  const Settings& settings = facts.settings;
  if (settings.waiting.wait != Wait::kSpinFutex) return {settings.options.wait, ""};
  return {settings.options.wait, fmt::format("{} us awake", settings.waiting.spin_us)};
}

std::string threads_text(int threads) { return threads == 0 ? "auto" : fmt::format("{}", threads); }

}  // namespace

std::vector<plan::SwitchReport> switch_reports(const SwitchFacts& facts) {
  const Options& asked = facts.settings.options;
  const Options defaults;
  const auto report = [](const char* name, const std::string& requested, Active active, const std::string& default_value) {
    return plan::SwitchReport{name, requested, std::move(active.value), std::move(active.reason), default_value};
  };
  return {
      report("isa", asked.isa, isa(facts), defaults.isa),
      report("kv-dtype", asked.kv_dtype, kv_dtype(facts), defaults.kv_dtype),
      report("activations", asked.activations, activations(facts), defaults.activations),
      report("prepack", asked.prepack, prepack(facts), defaults.prepack),
      report("pages", asked.pages, pages(facts), defaults.pages),
      report("threads", threads_text(asked.threads), threads(facts), threads_text(defaults.threads)),
      report("bind", asked.bind, {asked.bind, facts.settings.placement.text}, defaults.bind),
      report("wait", asked.wait, wait(facts), defaults.wait),
      report("plan", asked.plan, {asked.plan, ""}, defaults.plan),
      report("sync", asked.sync, {asked.sync, ""}, defaults.sync),
      report("shared-expert", asked.shared_expert, {asked.shared_expert, ""}, defaults.shared_expert),
      report("gdn", asked.gdn, {asked.gdn, ""}, defaults.gdn),
      report("attn", asked.attn, {asked.attn, ""}, defaults.attn),
      report("lmhead", asked.lmhead, {asked.lmhead, ""}, defaults.lmhead),
      report("prefetch", asked.prefetch, {asked.prefetch, ""}, defaults.prefetch),
      report("state-dtype", asked.state_dtype, {asked.state_dtype, asked.state_dtype == "f32" ? "" : "rounded after each step: not exact"},
             defaults.state_dtype),
      report("alloc", asked.alloc, {asked.alloc, ""}, defaults.alloc),
  };
}

}  // namespace teapot::cpu
