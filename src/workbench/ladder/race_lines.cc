// A ladder's ledger: {"race", "active"} or {"race", "refused"} where a race begins, then {"race", "pair", "first", "a", "b", "at"}.
#include <charconv>
#include <cmath>

#include "workbench/ladder/race.h"

namespace teapot::workbench {
namespace {

Json turns_json(const std::vector<LadderTurn>& turns) {
  Json json = Json::array();
  for (const LadderTurn& turn : turns) {
    json.push_back({{"c", turn.c}, {"tpot_ms", turn.tpot_ms}, {"tokens", fmt::format("{:016x}", turn.hash)}});
  }
  return json;
}

Result<const Json*> find(const Json& json, const char* name, bool (Json::*is)() const noexcept, const char* expected) {
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "{}: {} where its object is expected", name, json.type_name());
  const auto found = json.find(name);
  if (found == json.end()) return fail(ErrorKind::kInvalid, "{} is missing", name);
  if (!((*found).*is)()) return fail(ErrorKind::kInvalid, "{}: {}; expected {}", name, found->type_name(), expected);
  return &*found;
}

Result<std::string> text(const Json& json, const char* name) {
  TEAPOT_TRY(const Json* value, find(json, name, &Json::is_string, "a string"));
  return value->get<std::string>();
}

Result<uint32_t> count(const Json& json, const char* name) {
  TEAPOT_TRY(const Json* value, find(json, name, &Json::is_number_unsigned, "a count"));
  if (value->get<uint64_t>() > UINT32_MAX) return fail(ErrorKind::kInvalid, "{}: {}; expected a count", name, value->get<uint64_t>());
  return value->get<uint32_t>();
}

Result<std::vector<LadderTurn>> parse_turns(const Json& line, const char* name, const std::vector<uint32_t>& concurrency) {
  TEAPOT_TRY(const Json* list, find(line, name, &Json::is_array, "an array"));
  std::vector<LadderTurn> turns;
  for (const Json& json : *list) {
    LadderTurn& turn = turns.emplace_back();
    TEAPOT_TRY(turn.c, count(json, "c"));
    TEAPOT_TRY(const Json* ms, find(json, "tpot_ms", &Json::is_number, "a number"));
    turn.tpot_ms = ms->get<double>();
    if (!(turn.tpot_ms > 0 && std::isfinite(turn.tpot_ms))) return fail(ErrorKind::kInvalid, "tpot_ms: {}; expected a time", turn.tpot_ms);
    TEAPOT_TRY(const std::string hash, text(json, "tokens"));
    const auto [end, error] = std::from_chars(hash.data(), hash.data() + hash.size(), turn.hash, 16);
    if (error != std::errc{} || end != hash.data() + hash.size()) return fail(ErrorKind::kInvalid, "tokens: '{}'; expected a hash", hash);
  }
  if (!std::ranges::equal(turns, concurrency, {}, &LadderTurn::c)) {
    return fail(ErrorKind::kInvalid, "{}: not the turns of {} sequences", name, fmt::join(concurrency, ", "));
  }
  return turns;
}

}  // namespace

Json pair_line(const std::string& race, const LadderPair& pair) {
  return {{"race", race}, {"pair", pair.number}, {"first", pair.b_first ? "b" : "a"}, {"a", turns_json(pair.a)}, {"b", turns_json(pair.b)},
          {"at", pair.at}};
}

Json start_line(const std::string& race, const RaceRecord& record) {
  if (record.refused) return {{"race", race}, {"refused", *record.refused}};
  return {{"race", race}, {"active", record.active}};
}

Status add_ladder_line(const Json& line, const std::vector<uint32_t>& concurrency, LadderRecords& records) {
  TEAPOT_TRY(const std::string race, text(line, "race"));
  RaceRecord& record = records[race];
  if (line.contains("refused")) {
    TEAPOT_TRY(record.refused, text(line, "refused"));
    return {};
  }
  if (line.contains("active")) {
    TEAPOT_TRY(record.active, text(line, "active"));
    return {};
  }
  LadderPair pair;
  TEAPOT_TRY(pair.number, count(line, "pair"));
  if (pair.number != record.pairs.size()) {
    return fail(ErrorKind::kInvalid, "pair: {}; expected {}, the next of '{}'", pair.number, record.pairs.size(), race);
  }
  TEAPOT_TRY(const std::string first, text(line, "first"));
  if (first != "a" && first != "b") return fail(ErrorKind::kInvalid, "first: '{}'; expected a or b", first);
  pair.b_first = first == "b";
  TEAPOT_TRY(pair.a, parse_turns(line, "a", concurrency));
  TEAPOT_TRY(pair.b, parse_turns(line, "b", concurrency));
  TEAPOT_TRY(pair.at, text(line, "at"));
  record.pairs.push_back(std::move(pair));
  return {};
}

}  // namespace teapot::workbench
