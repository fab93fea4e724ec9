#include "workbench/ladder/order.h"

#include <map>

#include "workbench/assets.h"
#include "workbench/yaml_fields.h"
#include "workbench/yaml_text.h"

namespace teapot::workbench {
namespace {

constexpr size_t kMaxBytes = 1 << 20, kMaxRungs = 200, kMaxOthers = 20, kMaxSteps = 100;
constexpr double kMaxMs = 1e6;

class OrderReader {
 public:
  OrderReader(const std::string& source, const LeverCheck& check) : check_(check) { order_.source = source; }

  Result<LadderOrder> read(const YAML::Node& node) {
    TEAPOT_TRY(const YamlFields fields, YamlFields::of(node, order_.source, "ladder", {"name", "rungs", "others"}));
    order_.name = "Ladder";
    TEAPOT_CHECK(fields.read("name", order_.name));
    TEAPOT_TRY(const YAML::Node rungs, list(fields, "rungs", kMaxRungs));
    for (const YAML::Node& rung : rungs) TEAPOT_CHECK(read_rung(rung));
    if (!fields.has("others")) return std::move(order_);
    TEAPOT_TRY(const YAML::Node others, list(fields, "others", kMaxOthers));
    for (const YAML::Node& other : others) TEAPOT_CHECK(read_other(other));
    return std::move(order_);
  }

 private:
  static Result<YAML::Node> list(const YamlFields& fields, std::string_view key, size_t most) {
    const YAML::Node* node = fields.find(key);
    if (node == nullptr || !node->IsSequence() || node->size() == 0 || node->size() > most) {
      return fields.wrong(key, fmt::format("expected a list of 1 to {}", most));
    }
    return *node;
  }

  Status read_rung(const YAML::Node& node) {
    const std::string what = fmt::format("rung {}", order_.rungs.size() + 1);
    TEAPOT_TRY(const YamlFields fields, YamlFields::of(node, order_.source, what, {"lever", "off", "on", "reload", "exact", "group"}));
    LadderRung rung;
    rung.line = line_of(node);
    for (const auto& [key, value] : {std::pair{"lever", &rung.lever}, {"off", &rung.off}, {"on", &rung.on}}) {
      TEAPOT_CHECK(fields.read(key, *value));
      if (value->empty()) return fields.wrong(key, "is missing");
    }
    TEAPOT_CHECK(fields.read("reload", rung.reload));
    TEAPOT_CHECK(fields.read("exact", rung.exact));
    std::string group = "decode";
    TEAPOT_CHECK(fields.read("group", group));
    if (group != "decode" && group != "mtp") return fields.wrong("group", fmt::format("found '{}', expected decode or mtp", group));
    rung.group = group == "mtp" ? RungGroup::kMtp : RungGroup::kDecode;
    TEAPOT_CHECK(check_place(fields, rung));
    for (const auto& [key, value] : {std::pair{"off", &rung.off}, {"on", &rung.on}}) {
      if (const Status known = check_(rung.lever, *value); !known) return fields.wrong(key, known.error().message);
    }
    order_.rungs.push_back(std::move(rung));
    return {};
  }

  Status check_place(const YamlFields& fields, const LadderRung& rung) {
    if (rung.off == rung.on) return fields.wrong("on", fmt::format("'{}' is what off is", rung.on));
    if (!rung.reload && rung.lever != "mtp") return fields.wrong("reload", "only mtp can differ between requests to one engine");
    if (!rung.reload && rung.off == "off") return fields.wrong("reload", "an engine with mtp off has no drafts to turn on");
    if (rung.group == RungGroup::kDecode && !order_.rungs.empty() && order_.rungs.back().group == RungGroup::kMtp) {
      return fields.wrong("group", "a decode rung after an mtp rung; expected all decode rungs first");
    }
    const auto stands = stands_.try_emplace(rung.lever, rung.off).first;
    if (stands->second != rung.off) {
      return fields.wrong("off", fmt::format("found '{}', but {} stands at '{}' here", rung.off, rung.lever, stands->second));
    }
    stands->second = rung.on;
    return {};
  }

  Status read_other(const YAML::Node& node) {
    const std::string what = fmt::format("other {}", order_.others.size() + 1);
    TEAPOT_TRY(const YamlFields fields, YamlFields::of(node, order_.source, what, {"name", "note", "steps", "with_drafts"}));
    OtherLadder other;
    TEAPOT_CHECK(fields.read("name", other.name));
    if (other.name.empty()) return fields.wrong("name", "is missing");
    TEAPOT_CHECK(fields.read("note", other.note));
    TEAPOT_TRY(const YAML::Node steps, list(fields, "steps", kMaxSteps));
    for (const YAML::Node& step : steps) {
      double ms = 0;
      if (!YAML::convert<double>::decode(step, ms) || !(ms > 0 && ms <= kMaxMs)) {
        return fields.wrong_at(step, fmt::format("steps: found {}, expected milliseconds", shown(step)));
      }
      other.steps_ms.push_back(ms);
    }
    if (fields.has("with_drafts")) {
      TEAPOT_TRY(const YAML::Node loads, list(fields, "with_drafts", kMaxSteps));
      for (const YAML::Node& load : loads) {
        TEAPOT_TRY(const YamlFields one, YamlFields::of(load, order_.source, what + ", with_drafts", {"c", "ms"}));
        for (const char* key : {"c", "ms"}) {
          if (!one.has(key)) return one.wrong(key, "is missing");
        }
        auto& [c, ms] = other.with_drafts_ms.emplace_back();
        TEAPOT_CHECK(one.read("c", c, 1, 65535));
        TEAPOT_CHECK(one.read("ms", ms, 0, kMaxMs));
      }
    }
    order_.others.push_back(std::move(other));
    return {};
  }

  LadderOrder order_;
  const LeverCheck& check_;
  std::map<std::string, std::string> stands_;  // a lever's value after the rungs so far
};

}  // namespace

Result<LadderOrder> parse_ladder_order(std::string_view text, const std::string& source, const LeverCheck& check) {
  if (text.size() > kMaxBytes) return fail(ErrorKind::kInvalid, "{}: {} bytes, expected at most {}", source, text.size(), kMaxBytes);
  return with_yaml(text, source, [&](const YAML::Node& root) { return OrderReader(source, check).read(root); });
}

Result<LadderOrder> default_ladder_order(const LeverCheck& check) {
  return parse_ladder_order(find_asset("ladder.yml"), "ladder.yml", check);
}

Json to_json(const LadderOrder& order) {
  Json rungs = Json::array();
  for (const LadderRung& rung : order.rungs) {
    rungs.push_back({{"lever", rung.lever},
                     {"off", rung.off},
                     {"on", rung.on},
                     {"reload", rung.reload},
                     {"exact", rung.exact},
                     {"group", rung.group == RungGroup::kMtp ? "mtp" : "decode"}});
  }
  return rungs;
}

}  // namespace teapot::workbench
