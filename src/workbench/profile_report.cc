#include "base/ticks.h"
#include "workbench/profile.h"

namespace teapot::workbench {
namespace {

double gbs(const ProfileRow& row) { return row.us == 0 ? 0 : static_cast<double>(row.bytes) / row.us / 1000; }

}  // namespace

std::string to_text(const Profile& profile) {
  std::string text = fmt::format("{} sequence{}, {} steps of {:.1f} us on {} threads, which read {:.1f} GB/s\n\n",
                                 profile.options.load.sequences, profile.options.load.sequences == 1 ? "" : "s", profile.options.steps,
                                 profile.step_us, profile.workers, profile.read_gbs);
  text += fmt::format("{:<44} {:>6} {:>10} {:>7} {:>9} {:>7} {:>7} {:>9} {:>9}\n", "op", "calls", "us", "step %", "MB", "GB/s", "roof %",
                      "wait us", "serial us");
  double all_us = 0;
  for (const ProfileRow& row : profile.rows) {
    if (!row.phase) all_us += row.us;
    const bool bytes = row.bytes > 0;
    text +=
        fmt::format("{:<44} {:>6.0f} {:>10.1f} {:>7.1f} {:>9} {:>7} {:>7} {:>9.1f} {:>9.1f}\n", (row.phase ? "    " : "") + row.op,
                    row.calls, row.us, 100 * row.us / profile.step_us,
                    bytes ? fmt::format("{:.2f}", static_cast<double>(row.bytes) / 1e6) : "", bytes ? fmt::format("{:.1f}", gbs(row)) : "",
                    bytes ? fmt::format("{:.0f}", 100 * gbs(row) / profile.read_gbs) : "", row.wait_us, row.serial_us);
  }
  text += fmt::format("{:<44} {:>6} {:>10.1f} {:>7.1f}\n", "between phases", "", profile.step_us - all_us,
                      100 * (profile.step_us - all_us) / profile.step_us);
  if (profile.options.load.drafts > 0) {
    text += fmt::format("{:<44} {:>6} {:>10.1f} {:>7.1f}\n", "within gdn_step: replay and log", "", profile.replay_us,
                        100 * profile.replay_us / profile.step_us);
  }
  return text;
}

Json to_json(const Profile& profile) {
  Json rows = Json::array();
  for (const ProfileRow& row : profile.rows) {
    rows.push_back({{"op", row.op},
                    {"phase", row.phase},
                    {"calls", row.calls},
                    {"us", row.us},
                    {"share", row.us / profile.step_us},
                    {"bytes", row.bytes},
                    {"gbs", gbs(row)},
                    {"roof_percent", 100 * gbs(row) / profile.read_gbs},
                    {"wait_us", row.wait_us},
                    {"serial_us", row.serial_us}});
  }
  return {{"sequences", profile.options.load.sequences},
          {"prompt", profile.options.load.prompt},
          {"steps", profile.options.steps},
          {"threads", profile.workers},
          {"read_gbs", profile.read_gbs},
          {"step_us", profile.step_us},
          {"replay_us", profile.replay_us},
          {"rows", std::move(rows)}};
}

}  // namespace teapot::workbench
