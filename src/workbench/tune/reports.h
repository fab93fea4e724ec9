// A session for its readers: terminal, program, browser, SQL, and the shell that starts the server with what was found.
#pragma once

#include <string>

#include "workbench/tune/session.h"

namespace teapot::workbench {

// The gain in one sentence, and where it comes from; or why nothing is claimed.
std::string claim_text(const SearchResult& result);
// "-5.41 % (-6.80 to -4.00)"
std::string effect_text(const Effect& effect);

std::string to_text(const TuneSession& session, bool color);
// {"profile", "args", "env", "confirmed": {"change_percent", "low", "high", "pairs"}, "verdicts": [...]} and what else is known.
Result<Json> result_json(const TuneSession& session);
std::string tune_html(const TuneSession& session);
// A new database: tables session, trials, loads, starts, counters, verdicts.
Status write_tune_sqlite(const TuneSession& session, const std::string& path);
// result.json, report.html and ledger.sqlite in the session's folder.
Status write_tune_reports(const TuneSession& session);

// NAME.sh and NAME.env for `winner` and `simplest`. Returns the files.
Result<std::vector<std::string>> export_profiles(const TuneSession& session, uint16_t port);

// All that is known of a knob: the catalogue's words, and what the session found.
std::string why_text(const Catalogue& catalogue, const Knob& knob, const TuneSession* session);

}  // namespace teapot::workbench
