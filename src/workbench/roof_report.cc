#include <algorithm>

#include "workbench/roof.h"

namespace teapot::workbench {
namespace {

const PeakRoof* best_of(const Roof& roof, Arithmetic kind) {
  const auto found = std::ranges::find_if(roof.peaks, [&](const PeakRoof& peak) { return peak.kernel.kind == kind; });
  return found == roof.peaks.end() ? nullptr : &*found;
}

const char* kind_name(Arithmetic kind) {
  switch (kind) {
    case Arithmetic::kInt8:
      return "int8";
    case Arithmetic::kInt8Tiles:
      return "int8 tiles";
    case Arithmetic::kF32:
      return "f32";
  }
  return "";
}

}  // namespace

Json to_json(const Roof& roof) {
  Json json;
  json["threads"] = roof.read.size();
  json["read_gbs"] = roof.read.back().gbs;
  json["working_set_bytes"] = roof.set.bytes;
  json["working_set_note"] = roof.set.note;
  for (const ReadRoof& read : roof.read) {
    json["read"].push_back({{"threads", read.threads}, {"gbs", read.gbs}, {"best_gbs", read.best_gbs}, {"kernel", read.kernel}});
  }
  json["int8_gmacs"] = best_of(roof, Arithmetic::kInt8)->gmacs;
  json["f32_gmacs"] = best_of(roof, Arithmetic::kF32)->gmacs;
  const PeakRoof* const tiles = best_of(roof, Arithmetic::kInt8Tiles);
  json["int8_tiles_gmacs"] = tiles == nullptr ? Json() : Json(tiles->gmacs);
  for (const PeakRoof& peak : roof.peaks) {
    json["arithmetic"].push_back({{"kernel", peak.kernel.name}, {"kind", kind_name(peak.kernel.kind)}, {"gmacs", peak.gmacs}});
  }
  json["fork_ns"] = roof.fork_ns;
  json["barrier_ns"] = roof.barrier_ns;
  for (const PageGrant& page : roof.pages) {
    json["pages"].push_back({{"size", page.size}, {"granted", page.granted}, {"reason", page.reason}});
  }
  return json;
}

std::string to_text(const Roof& roof) {
  std::string text;
  for (const ReadRoof& read : roof.read) {
    text += fmt::format("read      {:2} thread{} {:7.1f} GB/s (best pass {:.1f}; {})\n", read.threads, read.threads == 1 ? " " : "s",
                        read.gbs, read.best_gbs, read.kernel);
  }
  text += fmt::format("          over {:.2f} GiB{}{}\n", static_cast<double>(roof.set.bytes) / (1u << 30),
                      roof.set.note.empty() ? "" : ": ", roof.set.note);
  for (const PeakRoof& peak : roof.peaks) {
    text += fmt::format("{:10}{:11} {:7.0f} GMAC/s ({})\n", kind_name(peak.kernel.kind), "", peak.gmacs, peak.kernel.name);
  }
  text += fmt::format("barrier   {:.0f} ns; fork and join {:.0f} ns\n", roof.barrier_ns, roof.fork_ns);
  for (const PageGrant& page : roof.pages) {
    text += fmt::format("pages     {:4} {}{}{}\n", page.size, page.granted ? "granted" : "refused", page.reason.empty() ? "" : ": ",
                        page.reason);
  }
  return text;
}

}  // namespace teapot::workbench
