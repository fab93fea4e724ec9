#include <algorithm>
#include <cmath>

#include "workbench/bench/reports.h"

#include "workbench/optional_json.h"

namespace teapot::workbench {
namespace {

double rounded(double value, double scale) { return std::round(value * scale) / scale; }
double four_digits(double value) { return rounded(value, 1e4); }

Json distribution_json(const Distribution& all) {
  return {{"count", all.count}, {"mean", all.mean}, {"min", all.min}, {"p50", all.p50},
          {"p90", all.p90},     {"p95", all.p95},   {"p99", all.p99}, {"max", all.max}};
}

// Values of the requests that succeeded, for evalscope's table of percentiles.
struct Column {
  const char* name;
  std::vector<double> values;
};

std::vector<Column> columns_of(const LoadResult& load) {
  std::vector<Column> columns = {{"TTFT (ms)", {}},      {"ITL (ms)", {}},      {"TPOT (ms)", {}},
                                 {"Latency (s)", {}},    {"Input tokens", {}},  {"Output tokens", {}},
                                 {"Output (tok/s)", {}}, {"Total (tok/s)", {}}, {"Decode (tok/s)", {}}};
  enum { kTtft, kItl, kTpot, kLatency, kInput, kOutput, kOutputRate, kTotalRate, kDecodeRate };
  for (const RequestRecord& record : load.records) {
    if (record.outcome != Outcome::kOk) continue;
    if (const auto ttft = ttft_ms(record)) columns[kTtft].values.push_back(*ttft);
    if (const auto tpot = tpot_ms(record)) {
      columns[kTpot].values.push_back(*tpot);
      if (*tpot > 0) columns[kDecodeRate].values.push_back(1000 / *tpot);
    }
    for (size_t i = 1; i < record.chunks.size(); ++i) {
      columns[kItl].values.push_back(static_cast<double>(record.chunks[i].at_ns - record.chunks[i - 1].at_ns) / 1e6);
    }
    const double seconds = static_cast<double>(record.end_ns - record.start_ns) / 1e9;
    columns[kLatency].values.push_back(seconds);
    columns[kInput].values.push_back(record.prompt_tokens);
    columns[kOutput].values.push_back(record.completion_tokens);
    if (seconds <= 0) continue;
    columns[kOutputRate].values.push_back(record.completion_tokens / seconds);
    columns[kTotalRate].values.push_back((double{0} + record.prompt_tokens + record.completion_tokens) / seconds);
  }
  return columns;
}

Json percentile_rows(const LoadResult& load) {
  std::vector<Column> columns = columns_of(load);
  for (Column& column : columns) std::ranges::sort(column.values);
  constexpr std::array kPercents = {0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100};
  Json rows = Json::array();
  for (const int percent : kPercents) {
    Json row{{"Percentiles", percent == 0 ? "min" : percent == 100 ? "max" : fmt::format("{}%", percent)}};
    for (const Column& column : columns) {
      if (column.values.empty()) continue;
      const size_t rank = (column.values.size() * static_cast<size_t>(percent) + 99) / 100;
      row[column.name] = four_digits(column.values[std::max<size_t>(rank, 1) - 1]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Tokens of a step as evalscope guesses them: mean over the replies of (tokens - 1) / (chunks - 1), where that is above 1; 0: nowhere.
double tokens_an_iteration(const LoadResult& load) {
  double sum = 0;
  uint32_t count = 0;
  for (const RequestRecord& record : load.records) {
    if (record.outcome != Outcome::kOk || record.chunks.size() < 2 || record.completion_tokens <= record.chunks.size()) continue;
    sum += (record.completion_tokens - 1.0) / (static_cast<double>(record.chunks.size()) - 1);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

// What evalscope's summary has and a LoadSummary doesn't know.
void add_streams(Json& json, const LoadSummary& summary, const Json& conditions) {
  const auto stream = conditions.is_object() ? conditions.find("request") : conditions.end();
  if (stream == conditions.end() || !stream->is_object() || !stream->contains("stream") || !(*stream)["stream"].is_boolean()) return;
  const bool streamed = (*stream)["stream"].get<bool>();
  json["Stream Requests"] = streamed ? summary.requests : 0;
  json["Non-Stream Requests"] = streamed ? 0 : summary.requests;
}

}  // namespace

Json to_json(const LoadSummary& summary) {
  Json json;
  json["Test Duration (s)"] = four_digits(summary.wall_s);
  json["Concurrency"] = summary.parallel;
  json["Request Rate (req/s)"] = summary.rate > 0 ? summary.rate : -1;
  json["Total Requests"] = summary.requests;
  json["Success Requests"] = summary.succeeded;
  json["Failed Requests"] = summary.requests - summary.succeeded;
  json["Req Throughput (req/s)"] = four_digits(summary.requests_s);
  json["Avg Latency (s)"] = four_digits(summary.latency_ms.mean / 1000);
  json["Avg Input Tokens"] = four_digits(summary.prompt_tokens);
  json["Output Throughput (tok/s)"] = four_digits(summary.output_tok_s);
  json["Total Throughput (tok/s)"] = four_digits(summary.total_tok_s);
  json["Avg TTFT (ms)"] = four_digits(summary.ttft_ms.mean);
  json["Avg TPOT (ms)"] = four_digits(summary.tpot_ms.mean);
  json["Avg ITL (ms)"] = four_digits(summary.itl_ms.mean);
  json["Avg Output Tokens"] = four_digits(summary.completion_tokens);
  const double prompt_tokens = summary.prompt_tokens * (summary.succeeded - summary.without_usage);
  if (summary.cached_tokens && prompt_tokens > 0) {
    json["KV Cache Hit Rate (%)"] = four_digits(100 * static_cast<double>(*summary.cached_tokens) / prompt_tokens);
  }
  if (summary.drafted.value_or(0) > 0) {
    json["Spec. Accept Rate"] = four_digits(static_cast<double>(summary.accepted.value_or(0)) / static_cast<double>(*summary.drafted));
  }
  json["parallel"] = summary.parallel;
  json["rate"] = summary.rate;
  json["requests"] = summary.requests;
  json["succeeded"] = summary.succeeded;
  json["without_usage"] = summary.without_usage;
  json["outcomes"] = Json::object();
  for (size_t kind = 0; kind < kOutcomeNames.size(); ++kind) {
    if (summary.outcomes[kind] > 0) json["outcomes"][std::string(kOutcomeNames[kind])] = summary.outcomes[kind];
  }
  json["ttft_ms"] = distribution_json(summary.ttft_ms);
  json["tpot_ms"] = distribution_json(summary.tpot_ms);
  json["itl_ms"] = distribution_json(summary.itl_ms);
  json["latency_ms"] = distribution_json(summary.latency_ms);
  json["chunk_tokens"] = distribution_json(summary.chunk_tokens);
  json["wall_s"] = summary.wall_s;
  json["output_tok_s"] = summary.output_tok_s;
  json["total_tok_s"] = summary.total_tok_s;
  json["requests_s"] = summary.requests_s;
  json["prompt_tokens"] = summary.prompt_tokens;
  json["completion_tokens"] = summary.completion_tokens;
  json["cached_tokens"] = or_null(summary.cached_tokens);
  json["drafted"] = or_null(summary.drafted);
  json["accepted"] = or_null(summary.accepted);
  json["client_cpu_share"] = summary.client_cpu_share;
  return json;
}

Json summary_json(const BenchRun& run) {
  Json json{{"name", run.name},         {"complete", run.complete},     {"clean", run.clean()},
            {"warnings", run.warnings}, {"conditions", run.conditions}, {"loads", Json::array()}};
  for (const BenchRun::Load& load : run.loads) {
    Json entry = to_json(load.summary);
    add_streams(entry, load.summary, run.conditions);
    if (const double tokens = tokens_an_iteration(load.result); tokens > 0) entry["Avg Decoded Tok/Iter"] = four_digits(tokens);
    entry["percentiles"] = percentile_rows(load.result);
    json["loads"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace teapot::workbench
