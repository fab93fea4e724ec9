#include "workbench/trace/report_json.h"

#include <cstdlib>

#include <fmt/format.h>

#include "workbench/trace/advice.h"
#include "workbench/trace/ranks.h"
#include "workbench/trace/report_figures.h"

namespace teapot::workbench::trace {
namespace {

// To three digits behind the point, as they are printed.
double rounded(double value) { return std::strtod(fmt::format("{:.3f}", value).c_str(), nullptr); }

Json class_times(const ClassTimes& ns, bool in_us) {
  Json result = Json::object();
  for (size_t c = 0; c < kClasses; ++c) result[std::string(kClassNames[c])] = in_us ? Json(us(ns[c])) : Json(ns[c]);
  return result;
}

Json step_json(const StepTimes& times, std::optional<double> roof_gbps) {
  Json json = {{"id", times.step.id},
               {"start_ns", times.step.start},
               {"end_ns", times.step.end},
               {"complete", times.step.complete},
               {"wall_us", us(times.wall_ns())},
               {"classes_us", class_times(times.ns, true)},
               {"classes_ns", class_times(times.ns, false)},
               {"device_slices", times.step.device_slices}};
  if (!times.step.kind.empty()) json["kind"] = times.step.kind;
  if (times.step.page_faults >= 0) json["page_faults"] = times.step.page_faults;
  if (times.weight_bytes) {
    json["weight_bytes"] = *times.weight_bytes;
    json["weight_kernels_us"] = us(times.ns[static_cast<size_t>(Class::kBandwidth)]);
    if (const auto percent = times.roof_percent(roof_gbps)) {
      json["roof_pct"] = rounded(*percent);
      if (*percent > 100) json["roof_note"] = "shapes do not explain these kernels";
    }
  }
  return json;
}

double rounded_per_step(const Analysis& analysis, double sum) { return rounded(per_step(analysis, sum)); }

Json operators_json(const Analysis& analysis) {
  Json list = Json::array();
  for (const Operator& op : analysis.operators) {
    Json json = {{"name", op.name},
                 {"class", name_of(op.kind)},
                 {"calls_per_step", rounded_per_step(analysis, static_cast<double>(op.calls))},
                 {"us_per_step", rounded_per_step(analysis, us(op.ns))},
                 {"owned_us_per_step", rounded_per_step(analysis, us(op.owned_ns))}};
    if (op.bytes > 0) {
      json["bytes_per_step"] = rounded_per_step(analysis, static_cast<double>(op.bytes));
      json["gbps"] = rounded(static_cast<double>(op.bytes) / static_cast<double>(op.bytes_ns));
      if (analysis.roof_gbps && op.kind == Class::kBandwidth) {
        const double percent = 100 * static_cast<double>(op.bytes) / static_cast<double>(op.bytes_ns) / *analysis.roof_gbps;
        json["roof_pct"] = rounded(percent);
        if (percent > 100) json["roof_note"] = "shapes do not explain this kernel";
      }
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json gaps_json(const Analysis& analysis) {
  Json list = Json::array();
  for (const Gap& gap : analysis.gaps) {
    list.push_back({{"class", name_of(gap.kind)},
                    {"cause", name_of(gap.cause)},
                    {"name", gap.name},
                    {"count_per_step", rounded_per_step(analysis, static_cast<double>(gap.count))},
                    {"us_per_step", rounded_per_step(analysis, us(gap.ns))}});
  }
  return list;
}

Json collectives_json(const Analysis& analysis) {
  Json list = Json::array();
  for (const Collective& collective : analysis.collectives) {
    Json json = {{"name", collective.name},
                 {"calls_per_step", rounded_per_step(analysis, static_cast<double>(collective.calls))},
                 {"us_per_step", rounded_per_step(analysis, us(collective.ns))},
                 {"exposed_us_per_step", rounded_per_step(analysis, us(collective.exposed_ns))}};
    if (collective.bytes >= 0) json["bytes"] = collective.bytes;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

Json to_json(const Analysis& analysis) {
  Json json = {{"outcome", "ok"}, {"format", analysis.format}, {"input", analysis.input}, {"rank", analysis.rank}};
  if (analysis.device) json["device"] = *analysis.device;
  json["class_order"] = kClassNames;
  json["warnings"] = analysis.warnings;
  const Repairs& repairs = analysis.repairs;
  if (repairs.clock_skew_ns > 0) json["clock_skew_ns"] = repairs.clock_skew_ns;
  if (repairs.clipped > 0) json["clipped"] = repairs.clipped;
  if (repairs.dropped() > 0) {
    json["dropped"] = {{"no_time", repairs.no_time}, {"zero_length", repairs.zero_length}, {"negative_length", repairs.negative_length}};
    if (repairs.far_from_launch > 0) json["dropped"]["far_from_launch"] = repairs.far_from_launch;
  }
  if (analysis.empty_markers > 0) json["empty_markers"] = analysis.empty_markers;
  if (analysis.roof_gbps) json["roof_gbps"] = *analysis.roof_gbps;
  if (!analysis.page_faults_by.empty()) json["page_faults_by"] = analysis.page_faults_by;
  if (analysis.pauses_ns > 0) json["pauses_ns"] = analysis.pauses_ns;
  if (analysis.workers > 0) {
    json["workers"] = analysis.workers;
    json["barrier_us_per_step_and_worker"] = rounded_per_step(analysis, us(analysis.barrier_ns) / static_cast<double>(analysis.workers));
  }
  json["steps_from"] = analysis.by_repetition ? "repetition" : "marker";
  json["steps"] = Json::array();
  for (const StepTimes& step : analysis.steps) json["steps"].push_back(step_json(step, analysis.roof_gbps));
  json["total_ns"] = class_times(analysis.total_ns(), false);
  Json mean = {
      {"steps", analysis.counted}, {"wall_us", rounded_per_step(analysis, us(analysis.counted_wall_ns()))}, {"classes_us", Json::object()}};
  for (size_t c = 0; c < kClasses; ++c)
    mean["classes_us"][std::string(kClassNames[c])] = rounded_per_step(analysis, us(analysis.counted_ns[c]));
  json["mean"] = std::move(mean);
  json["operators"] = operators_json(analysis);
  json["gaps"] = gaps_json(analysis);
  json["collectives"] = collectives_json(analysis);
  return json;
}

Json to_json(const std::vector<Analysis>& ranks, const std::optional<Comparison>& against) {
  Json json;
  if (ranks.size() == 1) {
    json = to_json(ranks.front());
    json["advice"] = to_json(advise(ranks.front()));
  } else {
    json = {{"outcome", "ok"}, {"ranks", Json::array()}, {"slowest_first", Json::array()}};
    for (const Analysis& rank : ranks) {
      json["ranks"].push_back(to_json(rank));
      json["ranks"].back()["advice"] = to_json(advise(rank));
    }
    for (const RankTimes& rank : compare_ranks(ranks)) {
      json["slowest_first"].push_back({{"rank", rank.rank},
                                       {"wall_us", rounded(rank.wall_us)},
                                       {"waits_for_another_rank_us", rounded(rank.waiting_us)},
                                       {"own_us", rounded(rank.own_us())}});
    }
  }
  if (against) json["against"] = to_json(*against);
  return json;
}

Json to_json(const ImportFault& fault) {
  Json json = {{"outcome", "error"}, {"format", fault.format}, {"input", fault.input}, {"error", fault.fault.error}};
  if (!fault.fault.column.empty()) json["column"] = fault.fault.column;
  if (fault.fault.byte_offset) json["byte_offset"] = *fault.fault.byte_offset;
  json["message"] = fault.fault.message;
  return json;
}

}  // namespace teapot::workbench::trace
