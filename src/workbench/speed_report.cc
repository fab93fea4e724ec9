#include "workbench/speed.h"

namespace teapot::workbench {
namespace {

double mega(uint64_t n) { return static_cast<double>(n) / 1e6; }
const char* kind(const Floor& floor) { return floor.by_bytes() ? "bytes" : "arithmetic"; }
std::string hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

Json parts_json(const DecodeSpeed& decode, const RoofSample& roof) {
  Json parts = Json::object();
  for (size_t i = 0; i < decode.parts.size(); ++i) {
    const plan::OpTraffic& part = decode.parts[i];
    if (part.bytes() == 0) continue;
    const Floor floor = roof.floor(part);
    parts[std::string(plan::kTrafficPartNames[i])] = {
        {"weight_bytes", part.weight_bytes}, {"state_bytes", part.state_bytes}, {"kv_bytes", part.kv_bytes}, {"int8_macs", part.int8_macs},
        {"f32_macs", part.f32_macs},         {"floor_ms", floor.ms()},          {"floor", kind(floor)}};
  }
  return parts;
}

Json decode_json(const DecodeSpeed& decode, const RoofSample& roof) {
  return {{"c", decode.c},
          {"ms_per_step", decode.ms.median},
          {"ms_min", decode.ms.min},
          {"ms_max", decode.ms.max},
          {"tok_s", decode.c * 1000 / decode.ms.median},
          {"floor_ms", decode.floor_ms.median},
          {"floor", kind(decode.floor)},
          {"floor_bytes_ms", decode.floor.bytes_ms},
          {"floor_arithmetic_ms", decode.floor.arithmetic_ms},
          {"roof_percent", decode.roof_percent.median},
          {"roof_percent_min", decode.roof_percent.min},
          {"roof_percent_max", decode.roof_percent.max},
          {"parts_floor_ms", decode.parts_floor_ms},
          {"arithmetic_share", decode.arithmetic_share},
          {"parts", parts_json(decode, roof)},
          {"barrier_wait_share", decode.barrier_wait_share},
          {"steps", decode.steps},
          {"plan_hits", decode.plan_hits},
          {"plan_misses", decode.plan_misses},
          {"allocations", decode.allocations},
          {"minor_faults", decode.minor_faults},
          {"major_faults", decode.major_faults},
          {"voluntary_switches", decode.voluntary_switches},
          {"involuntary_switches", decode.involuntary_switches},
          {"token_hash", hex(decode.token_hash)},
          {"logits_hash", hex(decode.logits_hash)}};
}

std::string decode_text(const DecodeSpeed& decode) {
  std::string text = fmt::format(
      "decode   c={}: {:.2f} ms a step ({:.2f} to {:.2f}), {:.1f} tok/s; floor {:.2f} ms ({}), {:.1f} % of the roof ({:.1f} to {:.1f})\n",
      decode.c, decode.ms.median, decode.ms.min, decode.ms.max, decode.c * 1000 / decode.ms.median, decode.floor_ms.median,
      kind(decode.floor), decode.roof_percent.median, decode.roof_percent.min, decode.roof_percent.max);
  text += "        ";
  for (size_t i = 0; i < decode.parts.size(); ++i) {
    if (decode.parts[i].bytes() > 0) text += fmt::format(" {} {:.1f},", plan::kTrafficPartNames[i], mega(decode.parts[i].bytes()));
  }
  text.back() = ' ';
  text += "MB\n";
  text += fmt::format("         floors part by part {:.2f} ms, {:.0f} % of it arithmetic; waiting at barriers {:.1f} %\n",
                      decode.parts_floor_ms, 100 * decode.arithmetic_share, 100 * decode.barrier_wait_share);
  text += fmt::format(
      "         {} steps: plans {} hits, {} misses; {} allocations; {} page faults ({} major); {} + {} context switches; tokens {}, logits "
      "{}\n",
      decode.steps, decode.plan_hits, decode.plan_misses, decode.allocations, decode.minor_faults + decode.major_faults,
      decode.major_faults, decode.voluntary_switches, decode.involuntary_switches, hex(decode.token_hash), hex(decode.logits_hash));
  return text;
}

}  // namespace

Json to_json(const Speed& speed) {
  Json json;
  json["model"] = speed.model;
  json["work"] = {{"prompt", speed.options.prompt},
                  {"gen", speed.options.gen},
                  {"repeat", speed.options.repeat},
                  {"prefill_chunk", speed.options.prefill_chunk}};
  json["roof"] = {{"read_gbs", speed.roof.read_gbs},
                  {"int8_gmacs", speed.roof.int8_gmacs},
                  {"int8_vector_gmacs", speed.roof.int8_vector_gmacs},
                  {"f32_gmacs", speed.roof.f32_gmacs},
                  {"read_kernel", speed.read_kernel},
                  {"int8_kernel", speed.int8_kernel},
                  {"f32_kernel", speed.f32_kernel},
                  {"working_set_bytes", speed.working_set.bytes},
                  {"working_set_note", speed.working_set.note}};
  json["prefill"] = {{"tokens", speed.prefill.tokens},
                     {"prompts", speed.prefill.prompts},
                     {"tok_s", speed.prefill.tok_s.median},
                     {"tok_s_min", speed.prefill.tok_s.min},
                     {"tok_s_max", speed.prefill.tok_s.max},
                     {"peak_percent", speed.prefill.peak_percent.median},
                     {"vector_peak_percent", speed.prefill.vector_peak_percent.median}};
  json["decode"] = Json::array();
  for (const DecodeSpeed& decode : speed.decode) json["decode"].push_back(decode_json(decode, speed.roof));
  json["levers"] = Json::object();
  for (const plan::SwitchReport& lever : speed.levers) json["levers"][lever.name] = plan::to_json(lever);
  return json;
}

std::string to_text(const Speed& speed) {
  std::string text = fmt::format("roof     read {:.1f} GB/s ({}), int8 {:.0f} GMAC/s ({}), f32 {:.0f} GMAC/s ({})\n", speed.roof.read_gbs,
                                 speed.read_kernel, speed.roof.int8_gmacs, speed.int8_kernel, speed.roof.f32_gmacs, speed.f32_kernel);
  text += fmt::format("         reads over {:.2f} GiB{}{}\n", static_cast<double>(speed.working_set.bytes) / (1u << 30),
                      speed.working_set.note.empty() ? "" : ": ", speed.working_set.note);
  text += fmt::format(
      "prefill  {} tokens: {:.1f} tok/s ({:.1f} to {:.1f}, {} prompts), {:.1f} % of the arithmetic peak ({:.1f} % without tile "
      "registers)\n",
      speed.prefill.tokens, speed.prefill.tok_s.median, speed.prefill.tok_s.min, speed.prefill.tok_s.max, speed.prefill.prompts,
      speed.prefill.peak_percent.median, speed.prefill.vector_peak_percent.median);
  for (const DecodeSpeed& decode : speed.decode) text += decode_text(decode);
  return text;
}

}  // namespace teapot::workbench
