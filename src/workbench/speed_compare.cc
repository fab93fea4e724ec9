#include <algorithm>
#include <optional>

#include "workbench/speed.h"

namespace teapot::workbench {
namespace {

// Of reports that another program may have written.
std::optional<double> number(const Json& json, const char* group, const char* name) {
  const auto found = json.find(group);
  if (found == json.end() || !found->is_object()) return std::nullopt;
  const auto value = found->find(name);
  return value == found->end() || !value->is_number() ? std::nullopt : std::optional(value->get<double>());
}

// A line of `decode` with all that is compared.
bool complete(const Json& line) {
  return line.is_object() && line.contains("c") && line["c"].is_number_unsigned() && line.contains("ms_per_step") &&
         line["ms_per_step"].is_number() && line["ms_per_step"] > 0 && line.contains("token_hash") && line["token_hash"].is_string() &&
         line.contains("logits_hash") && line["logits_hash"].is_string();
}

}  // namespace

Result<Json> compare(const Json& then, const Json& now) {
  const auto prefill = number(then, "prefill", "tok_s"), read = number(then, "roof", "read_gbs");
  const bool sound = prefill && read && then.contains("work") && then.contains("decode") && then["decode"].is_array() &&
                     std::ranges::all_of(then["decode"], complete);
  if (!sound) return fail(ErrorKind::kInvalid, "the earlier report: not what `teapot speed --json` writes");
  if (then["work"] != now["work"]) {
    return fail(ErrorKind::kInvalid, "the earlier report is of other work: {}, now {}", then["work"].dump(), now["work"].dump());
  }
  Json result;
  result["prefill_ratio"] = number(now, "prefill", "tok_s").value_or(0) / *prefill;
  result["read_ratio"] = number(now, "roof", "read_gbs").value_or(0) / *read;
  result["results_equal"] = true;
  result["decode"] = Json::array();
  for (const Json& line : now["decode"]) {
    const auto old = std::ranges::find_if(then["decode"], [&](const Json& other) { return other["c"] == line["c"]; });
    if (old == then["decode"].end()) continue;
    const bool tokens = (*old)["token_hash"] == line["token_hash"], logits = (*old)["logits_hash"] == line["logits_hash"];
    result["decode"].push_back({{"c", line["c"]},
                                {"ms_ratio", line["ms_per_step"].get<double>() / (*old)["ms_per_step"].get<double>()},
                                {"tokens_equal", tokens},
                                {"logits_equal", logits}});
    if (!tokens || !logits) result["results_equal"] = false;
  }
  return result;
}

std::string comparison_text(const Json& comparison) {
  std::string text = fmt::format("against  prefill x {:.3f}, read bandwidth x {:.3f} of the earlier run\n",
                                 comparison["prefill_ratio"].get<double>(), comparison["read_ratio"].get<double>());
  for (const Json& line : comparison["decode"]) {
    const bool tokens = line["tokens_equal"].get<bool>(), logits = line["logits_equal"].get<bool>();
    text += fmt::format("         c={}: ms a step x {:.3f}; {}\n", line["c"].get<uint32_t>(), line["ms_ratio"].get<double>(),
                        tokens && logits ? "same tokens and logits"
                        : tokens         ? "same tokens, OTHER LOGITS"
                                         : "OTHER TOKENS");
  }
  return text;
}

}  // namespace teapot::workbench
