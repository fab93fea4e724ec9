#include "workbench/bench/pair_record.h"

#include <algorithm>
#include <cmath>

namespace teapot::workbench {
namespace {

Json turn_json(const TurnFigures& turn) {
  Json json = {{"tpot_ms", turn.tpot_ms},   {"ttft_ms", turn.ttft_ms}, {"completion_tokens", turn.completion_tokens},
               {"requests", turn.requests}, {"failed", turn.failed},   {"cached_tokens", turn.cached_tokens}};
  if (!turn.fault.empty()) json["fault"] = turn.fault;
  return json;
}

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

Result<const Json*> find(const Json& json, const char* name) {
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "{}: {} where its object is expected", name, json.type_name());
  const auto found = json.find(name);
  if (found == json.end()) return fail(ErrorKind::kInvalid, "{} is missing", name);
  return &*found;
}

Result<double> number(const Json& json, const char* name) {
  TEAPOT_TRY(const Json* value, find(json, name));
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    return fail(ErrorKind::kInvalid, "{}: {}; expected a number", name, value->type_name());
  }
  return value->get<double>();
}

template <class Unsigned>
Result<Unsigned> count(const Json& json, const char* name) {
  TEAPOT_TRY(const double value, number(json, name));
  if (value < 0 || value > static_cast<double>(UINT32_MAX) || value != std::floor(value)) {
    return fail(ErrorKind::kInvalid, "{}: {}; expected a count", name, value);
  }
  return static_cast<Unsigned>(value);
}

Result<std::string> text(const Json& json, const char* name) {
  TEAPOT_TRY(const Json* value, find(json, name));
  if (!value->is_string()) return fail(ErrorKind::kInvalid, "{}: {}; expected a string", name, value->type_name());
  return value->get<std::string>();
}

Result<TurnFigures> parse_turn(const Json& json) {
  TurnFigures turn;
  TEAPOT_TRY(turn.tpot_ms, number(json, "tpot_ms"));
  TEAPOT_TRY(turn.ttft_ms, number(json, "ttft_ms"));
  TEAPOT_TRY(turn.completion_tokens, number(json, "completion_tokens"));
  TEAPOT_TRY(turn.requests, count<uint32_t>(json, "requests"));
  TEAPOT_TRY(turn.failed, count<uint32_t>(json, "failed"));
  TEAPOT_TRY(turn.cached_tokens, count<uint64_t>(json, "cached_tokens"));
  if (json.contains("fault")) {
    TEAPOT_TRY(turn.fault, text(json, "fault"));
  }
  return turn;
}

Result<ReplyDifference> parse_replies(const Json& json) {
  ReplyDifference replies;
  TEAPOT_TRY(replies.compared, count<uint32_t>(json, "compared"));
  TEAPOT_TRY(replies.different, count<uint32_t>(json, "different"));
  if (!json.contains("first")) return replies;
  const Json& first = json["first"];
  replies.first.emplace();
  TEAPOT_TRY(replies.first->request, count<uint32_t>(first, "request"));
  TEAPOT_TRY(replies.first->character, count<uint32_t>(first, "character"));
  if (first.contains("token")) {
    TEAPOT_TRY(replies.first->token, count<uint32_t>(first, "token"));
  }
  TEAPOT_TRY(replies.first->a, text(first, "a"));
  TEAPOT_TRY(replies.first->b, text(first, "b"));
  return replies;
}

Result<LoadPair> parse_load(const Json& json) {
  LoadPair load;
  TEAPOT_TRY(load.parallel, count<uint32_t>(json, "parallel"));
  TEAPOT_TRY(const Json* a, find(json, "a"));
  TEAPOT_TRY(load.a, parse_turn(*a));
  TEAPOT_TRY(const Json* b, find(json, "b"));
  TEAPOT_TRY(load.b, parse_turn(*b));
  TEAPOT_TRY(const Json* replies, find(json, "replies"));
  TEAPOT_TRY(load.replies, parse_replies(*replies));
  return load;
}

bool has_times(const TurnFigures& turn) { return turn.tpot_ms > 0 && turn.ttft_ms > 0; }

}  // namespace

Json to_json(const PairRecord& pair) {
  Json json = {{"pair", pair.number}, {"kind", pair.null ? "aa" : "ab"}, {"first", pair.b_first ? "b" : "a"}, {"loads", Json::array()}};
  for (const LoadPair& load : pair.loads) {
    json["loads"].push_back(
        {{"parallel", load.parallel}, {"a", turn_json(load.a)}, {"b", turn_json(load.b)}, {"replies", replies_json(load.replies)}});
  }
  if (!pair.valid()) json["fault"] = pair.fault;
  if (pair.read_gbs) json["read_gbs"] = *pair.read_gbs;
  json["at"] = pair.at;
  return json;
}

Result<PairRecord> parse_pair(const Json& line, const std::vector<uint32_t>& parallel) {
  PairRecord pair;
  TEAPOT_TRY(pair.number, count<uint32_t>(line, "pair"));
  TEAPOT_TRY(const std::string kind, text(line, "kind"));
  TEAPOT_TRY(const std::string first, text(line, "first"));
  if (kind != "aa" && kind != "ab") return fail(ErrorKind::kInvalid, "kind: '{}'; expected aa or ab", kind);
  if (first != "a" && first != "b") return fail(ErrorKind::kInvalid, "first: '{}'; expected a or b", first);
  pair.null = kind == "aa";
  pair.b_first = first == "b";
  TEAPOT_TRY(const Json* loads, find(line, "loads"));
  if (!loads->is_array()) return fail(ErrorKind::kInvalid, "loads: {}; expected an array", loads->type_name());
  for (const Json& json : *loads) {
    TEAPOT_TRY(pair.loads.emplace_back(), parse_load(json));
  }
  if (line.contains("fault")) {
    TEAPOT_TRY(pair.fault, text(line, "fault"));
  }
  if (line.contains("read_gbs")) {
    TEAPOT_TRY(pair.read_gbs, number(line, "read_gbs"));
  }
  TEAPOT_TRY(pair.at, text(line, "at"));
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
