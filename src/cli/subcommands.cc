#include "cli/subcommands.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace teapot::cli {

void refuse_options_before_subcommands(CLI::App& command) {
  for (CLI::App* subcommand : command.get_subcommands([](CLI::App*) { return true; })) {
    subcommand->preparse_callback([&command, subcommand](size_t) {
      std::vector<std::string> given;
      for (const CLI::Option* option : command.get_options()) {
        if (option->count() > 0 && option != command.get_help_ptr()) given.push_back(option->get_name());
      }
      if (given.empty()) return;
      throw CLI::ValidationError(
          fmt::format("{} {}", command.get_name(), subcommand->get_name()),
          fmt::format("found {} before '{}'; expected its own options, behind it", fmt::join(given, ", "), subcommand->get_name()));
    });
  }
}

}  // namespace teapot::cli
