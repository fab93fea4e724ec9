// What a run is resumed from, and gsm8k's questions and replies: any bytes are read or refused, and what was read can be reckoned with.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workbench/bench/compare.h"
#include "workbench/eval/final_number.h"
#include "workbench/eval/gsm8k.h"
#include "workbench/ladder/race.h"
#include "workbench/ledger.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teapot::workbench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  final_number(text);
  Gsm8kTask task;
  if (auto questions = parse_gsm8k(text, "questions")) task.questions = *std::move(questions);
  task.questions.resize(4);
  const auto ledger = parse_ledger(text, "ledger");
  if (!ledger) return 0;
  CompareOptions options;
  options.parallel = {1, 4};
  std::vector<PairRecord> pairs;
  Gsm8kReplies replies;
  LadderRecords races;
  for (const teapot::Json& line : ledger->lines) {
    if (auto pair = parse_pair(line, options.parallel)) pairs.push_back(*std::move(pair));
    if (add_gsm8k_line(line, task, replies)) continue;
    if (!add_ladder_line(line, {1, 4}, races)) continue;
  }
  analyse(options, pairs);
  for (const auto& [name, record] : races) judge({.name = name}, record, {}, false, 0.05);
  to_text(score(task, replies), task);
  return 0;
}
