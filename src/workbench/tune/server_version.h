// Which version a server is, asked as its catalogue says: "GET /version", "llama-server --version", or both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workbench/tune/start_command.h"

namespace teapot::workbench {

struct VersionQuestion {
  std::string target;                // of a GET; empty: none
  std::vector<std::string> command;  // empty: none
};
// The program of the command is that of the start command: the word of the same name, else its first.
VersionQuestion version_question(const Launch& launch, const Placeholders& placeholders);

// What a JSON page has as "version", else the body's first line.
std::string version_in(const std::string& body);
// Runs it for at most 20 s: the line that tells the version. Empty: it tells none.
std::string ask_for_version(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& env,
                            std::string_view expected);

// A number with dots or a commit's hash of the catalogue's version stands in what the server tells; where it has neither, all of it.
bool same_version(std::string_view catalogue, std::string_view told);

// Both answers as one: the one that is the catalogue's version, with that version's own words; else both. Empty: nothing was told.
std::string version_text(std::string_view catalogue, const std::string& page, const std::string& command);

}  // namespace teapot::workbench
