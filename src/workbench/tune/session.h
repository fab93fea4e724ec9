// A search as a folder: its settings and all answers in ledger.jsonl, the catalogue beside it, logs of every start, reports.
#pragma once

#include <atomic>
#include <chrono>

#include "workbench/tune/search.h"
#include "workbench/tune/start_command.h"

namespace teapot::workbench {

// What a session is begun with, and what resuming it must not change.
struct TuneSettings {
  std::string catalogue;  // its source, for the reader; the text is in the folder
  std::string start;      // instead of the catalogue's; empty: that one
  Placeholders fill;      // {model} and what else the start command needs; ports come by themselves
  SearchOptions search;   // its host values: those of the machine that it was begun on; none: of a ledger that doesn't have them
  uint32_t prompt_tokens = 1024, output_tokens = 512, requests_per_user = 2;
  std::string target = "/v1/chat/completions";
  uint32_t start_timeout_s = 0;  // 0: the catalogue's
  uint32_t read_timeout_s = 120;
  Json extra_args = Json::object();
  Json host;  // that it runs on: host_fingerprint()
};

Json to_json(const TuneSettings& settings);
// kInvalid, naming the field.
Result<TuneSettings> parse_tune_settings(const Json& json);

// What makes a host another one: {"cpu", "cores", "memory_bytes", "numa_nodes", "kernel", "accelerators"}.
Result<Json> host_fingerprint();

struct TuneSession {
  std::string folder;
  TuneSettings settings;
  Catalogue catalogue;  // with the settings' start command and time limit
  SearchResult result;
  std::vector<Json> lines;  // of the ledger, as far as it went
};

// Whether a start command can be made for the base, and nothing in it conflicts or lacks what it requires. kInvalid, naming --from.
Status check_base(const Catalogue& catalogue, const TuneSettings& settings);

// Makes the folder. kInvalid where a session is in it already.
Status begin_session(const std::string& folder, const TuneSettings& settings, const CatalogueText& catalogue);
// Goes on until the search ends or `stop` is set; what there is is in the session then, and in the ledger. kBusy: another process does.
Result<TuneSession> run_session(const std::string& folder, const SearchEvents& events, const std::atomic<bool>* stop);
// Only reads.
Result<TuneSession> read_session(const std::string& folder);

// The start command of a profile; {port} stays as it is where no port is given.
Result<StartCommand> command_of(const TuneSession& session, const KnobProfile& profile, const std::string& port = "{port}");

}  // namespace teapot::workbench
