// teapot tune: which settings of a server make it faster, measured.
#include "cli/commands.h"

namespace teapot::cli {

void add_tune(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("tune", "Find the settings of a server that make it faster");
  command->require_subcommand(1);
  add_tune_check(*command, exit_code);
}

}  // namespace teapot::cli
