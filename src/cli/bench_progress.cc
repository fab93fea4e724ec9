#include "cli/bench_progress.h"

#include "base/log.h"

namespace teapot::cli {

workbench::BenchEvents BenchProgress::events(const std::atomic<bool>& stop) {
  workbench::BenchEvents events;
  events.note = [this](const std::string& text) { note(text); };
  events.progress = [this](uint32_t parallel, uint32_t done, uint32_t of, double tpot_ms) { update(parallel, done, of, tpot_ms); };
  events.load_done = [this](const workbench::BenchRun&) { bar_.reset(); };
  events.stop = &stop;
  return events;
}

void BenchProgress::note(const std::string& text) {
  bar_.reset();
  log::info("{}", text);
}

void BenchProgress::update(uint32_t parallel, uint32_t done, uint32_t of, double tpot_ms) {
  if (!bar_) bar_ = std::make_unique<ProgressBar>(fmt::format("c = {}", parallel));
  std::string words = fmt::format("{} of {} requests", done, of);
  if (tpot_ms > 0) words += fmt::format(", TPOT {:.2f} ms", tpot_ms);
  bar_->update(of == 0 ? 1 : static_cast<double>(done) / of, words);
}

}  // namespace teapot::cli
