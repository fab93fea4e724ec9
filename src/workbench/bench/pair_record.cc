#include "workbench/bench/pair_record.h"

#include <algorithm>

#include "workbench/ledger_fields.h"

namespace teapot::workbench {
namespace {

Json replies_json(const ReplyDifference& replies) {
  Json json = {{"compared", replies.compared}, {"different", replies.different}};
  if (replies.first) {
    const FirstDifference& first = *replies.first;
    json["first"] = {{"request", first.request}, {"character", first.character}};
    if (first.token) json["first"]["token"] = *first.token;
    json["first"]["a"] = first.a;
    json["first"]["b"] = first.b;
  }
  return json;
}

Result<ReplyDifference> parse_replies(const Json& json) {
  ReplyDifference replies;
  TEAPOT_TRY(replies.compared, count_field(json, "compared"));
  TEAPOT_TRY(replies.different, count_field(json, "different"));
  if (!json.contains("first")) return replies;
  const Json& first = json["first"];
  replies.first.emplace();
  TEAPOT_TRY(replies.first->request, count_field(first, "request"));
  TEAPOT_TRY(replies.first->character, count_field(first, "character"));
  if (first.contains("token")) {
    TEAPOT_TRY(replies.first->token, count_field(first, "token"));
  }
  TEAPOT_TRY(replies.first->a, text_field(first, "a"));
  TEAPOT_TRY(replies.first->b, text_field(first, "b"));
  return replies;
}

Result<LoadPair> parse_load(const Json& json) {
  LoadPair load;
  TEAPOT_TRY(load.parallel, count_field(json, "parallel"));
  TEAPOT_TRY(const Json* a, find_field(json, "a"));
  TEAPOT_TRY(load.a, parse_turn(*a));
  TEAPOT_TRY(const Json* b, find_field(json, "b"));
  TEAPOT_TRY(load.b, parse_turn(*b));
  TEAPOT_TRY(const Json* replies, find_field(json, "replies"));
  TEAPOT_TRY(load.replies, parse_replies(*replies));
  return load;
}

bool has_times(const TurnFigures& turn) { return turn.tpot_ms > 0 && turn.ttft_ms > 0; }

}  // namespace

Json to_json(const PairRecord& pair) {
  Json json = {{"pair", pair.number}, {"kind", pair.null ? "aa" : "ab"}, {"first", pair.b_first ? "b" : "a"}, {"loads", Json::array()}};
  for (const LoadPair& load : pair.loads) {
    json["loads"].push_back(
        {{"parallel", load.parallel}, {"a", to_json(load.a)}, {"b", to_json(load.b)}, {"replies", replies_json(load.replies)}});
  }
  if (!pair.valid()) json["fault"] = pair.fault;
  if (pair.read_gbs) json["read_gbs"] = *pair.read_gbs;
  json["at"] = pair.at;
  return json;
}

Result<PairRecord> parse_pair(const Json& line, const std::vector<uint32_t>& parallel) {
  PairRecord pair;
  TEAPOT_TRY(pair.number, count_field(line, "pair"));
  TEAPOT_TRY(const std::string kind, text_field(line, "kind"));
  TEAPOT_TRY(const std::string first, text_field(line, "first"));
  if (kind != "aa" && kind != "ab") return fail(ErrorKind::kInvalid, "kind: '{}'; expected aa or ab", kind);
  if (first != "a" && first != "b") return fail(ErrorKind::kInvalid, "first: '{}'; expected a or b", first);
  pair.null = kind == "aa";
  pair.b_first = first == "b";
  TEAPOT_TRY(const Json* loads, find_field(line, "loads"));
  if (!loads->is_array()) return fail(ErrorKind::kInvalid, "loads: {}; expected an array", loads->type_name());
  for (const Json& json : *loads) {
    TEAPOT_TRY(pair.loads.emplace_back(), parse_load(json));
  }
  if (line.contains("fault")) {
    TEAPOT_TRY(pair.fault, text_field(line, "fault"));
  }
  if (line.contains("read_gbs")) {
    TEAPOT_TRY(pair.read_gbs, number_field(line, "read_gbs"));
  }
  TEAPOT_TRY(pair.at, text_field(line, "at"));
  if (pair.valid()) {
    if (!std::ranges::equal(pair.loads, parallel, {}, &LoadPair::parallel)) {
      return fail(ErrorKind::kInvalid, "loads: not those at {} users", fmt::join(parallel, ", "));
    }
    if (!std::ranges::all_of(pair.loads, [](const LoadPair& load) { return has_times(load.a) && has_times(load.b); })) {
      return fail(ErrorKind::kInvalid, "loads: a time of 0 in a pair without a fault");
    }
  }
  return pair;
}

}  // namespace teapot::workbench
