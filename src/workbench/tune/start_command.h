// The command that starts a server with a profile.
#pragma once

#include "base/error.h"
#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

using Placeholders = std::map<std::string, std::string>;  // "model" -> what {model} stands for

// The placeholders of the start command and of its variables that have nothing in `given`, each once, in their order. Those that `teapot
// tune` or a start fills by itself are left out; {name} is made of {model}, so it asks for that.
std::vector<std::string> missing_placeholders(const Launch& launch, const Placeholders& given);

// {name} by what it stands for. kInvalid: one that is not given.
Result<std::string> fill_placeholders(std::string_view text, const Placeholders& placeholders);

// kInvalid: no {port} where the server could be told it, or a name of `filled` that nothing of the catalogue has.
Status check_placeholders(const Catalogue& catalogue, const std::vector<std::string>& filled);

struct StartCommand {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> env;  // launch.env, then the profile's
  std::vector<std::string> unset;                        // variables of the knobs that are not set: they must not be inherited
  std::vector<std::string> host_notes;                   // commands for the machine's owner
};

// Values must be resolved (step_values.h). `start` is split into words as a shell would, quotes and backslashes included, but nothing
// else of a shell is in it; then placeholders are filled in, in values too. Order: prefixes, start, flags in the knobs' order; the keys
// of one JSON option are one object, at the place of the first. kInvalid: a knob that is not there, a value that does not fit its type,
// an "@..." value, a placeholder that is not given, a quote that does not end.
Result<StartCommand> build_command(const Catalogue& catalogue, const KnobProfile& profile, const Placeholders& placeholders);

// As a line for a shell, quoted where it must be: "VAR=x command --flag 'a b'".
std::string to_shell(const StartCommand& command);

}  // namespace teapot::workbench
