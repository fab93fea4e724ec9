// What a search is resumed and shown from, and what servers tell it: any bytes are read or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "workbench/ledger.h"
#include "workbench/tune/counters.h"
#include "workbench/tune/evidence.h"
#include "workbench/tune/recorded_trials.h"
#include "workbench/tune/search.h"
#include "workbench/tune/session.h"
#include "workbench/tune/trial_record.h"

namespace {

constexpr std::string_view kCatalogue = R"(
server: s
version: "1"
api: openai
metric_prefix: "s:"
launch: {start: s, ready: GET /health}
knobs:
- {name: a, set: {flag: --a}, type: int, values: [0, 1], scope: host, rank: 1, restart: true, effect: none, risk: {text: same},
   check: {kind: log, what: '"a is on"'}, evidence: [none], verified: true}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teapot::workbench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Counters counters = parse_counters(text);
  const size_t line_end = text.find('\n');
  (void)evaluate(text.substr(0, line_end), counters);

  static const auto catalogue = parse_catalogue(kCatalogue, "fuzz");
  Sources sources;
  sources.get = [&](const std::string&) { return std::string(text); };
  sources.log = text;
  sources.grown = counters;
  sources.process = sources.get;
  Knob knob = catalogue->knobs.front();
  for (const CheckKind kind : {CheckKind::kHttp, CheckKind::kMetric, CheckKind::kLog, CheckKind::kProcess}) {
    knob.check = kind;
    knob.check_what = text.substr(0, line_end);
    look_for(knob, "1", sources);
    knob.check_what = "/page a.b";
    look_for(knob, "1", sources);
  }

  const auto ledger = parse_ledger(text, "ledger");
  if (!ledger) return 0;
  (void)parse_tune_settings(ledger->settings);
  for (const teapot::Json& line : ledger->lines) {
    (void)parse_validation(line);
    (void)parse_pair_outcome(line, {1, 4});
  }
  SearchOptions options;
  options.budget.pairs = 60;
  options.parallel = {1};
  RecordedTrials trials(ledger->lines, options.parallel, "", nullptr, {});
  (void)search(*catalogue, options, trials, {});
  return 0;
}
