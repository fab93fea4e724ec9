// Commands that do something by themselves and have subcommands, too.
#pragma once

#include <CLI/CLI.hpp>

namespace teapot::cli {

// Behind `command`'s own options none of the subcommands added so far is taken: they would change nothing.
void refuse_options_before_subcommands(CLI::App& command);

}  // namespace teapot::cli
