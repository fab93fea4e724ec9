// A session for its readers: terminal, program, browser, SQL, and the shell that starts the server with what was found.
#pragma once

#include <string>

#include "workbench/tune/session.h"

namespace teapot::workbench {

// The gain in one sentence, and where it comes from; or why nothing is claimed.
std::string claim_text(const SearchResult& result);
// "-5.41 % (-6.80 to -4.00)"
std::string effect_text(const Effect& effect);

// What it says of each number of users, and of TTFT: ("TPOT with 4 users", "-5.41 % (-6.80 to -4.00)").
std::vector<std::pair<std::string, std::string>> confirmed_rows(const Confirmation& confirmation, const std::vector<uint32_t>& parallel);
// "3 of 200 pairs"; "3 pairs" where nobody knows yet how many fit into the time.
std::string pairs_text(const TuneSession& session);

std::string to_text(const TuneSession& session, bool color);
// {"profile", "args", "env", "confirmed": {"change_percent", "low", "high", "pairs", "loads", "ttft"}, "verdicts": [...]} and what else is
// known. Of a search that did not come to its end the profile is the base, and the best so far is "unconfirmed".
Result<Json> result_json(const TuneSession& session);
std::string tune_html(const TuneSession& session);
// A new database: tables session, trials, loads, starts, counters, verdicts.
Status write_tune_sqlite(const TuneSession& session, const std::string& path);
// result.json, report.html and ledger.sqlite in the session's folder.
Status write_tune_reports(const TuneSession& session);

// NAME.sh and NAME.env for `winner` and `simplest`, and for `unconfirmed` where the search did not come to its end. Returns the files.
Result<std::vector<std::string>> export_profiles(const TuneSession& session, uint16_t port);

// All that is known of a knob: the catalogue's words, and what the session found.
std::string why_text(const Catalogue& catalogue, const Knob& knob, const TuneSession* session);

}  // namespace teapot::workbench
