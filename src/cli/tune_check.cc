// teapot tune check: catalogues against their format.
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/lever_catalogue.h"
#include "workbench/tune/catalogue_summary.h"
#include "workbench/tune/reachable.h"

namespace teapot::cli {
namespace {

int check(const std::vector<std::string>& files) {
  int exit_code = 0;
  for (const std::string& file : files) {
    const auto text = open_catalogue(file);
    const auto catalogue = text ? workbench::parse_catalogue(text->yaml, text->source) : std::unexpected(text.error());
    if (!catalogue) {
      exit_code = report(catalogue.error());
      continue;
    }
    fmt::print("{}: {}", file, workbench::summary(*catalogue));
    const std::vector<std::string> lost = workbench::unreachable_values(*catalogue);
    if (!lost.empty()) fmt::print("  warning: values that nothing leads to from the defaults:\n");
    for (const std::string& line : lost) fmt::print("    {}\n", line);
    if (const Status sound = workbench::check_defaults(*catalogue, file); !sound) exit_code = report(sound.error());
  }
  return std::fflush(stdout) == 0 ? exit_code : report(Error{ErrorKind::kIo, "the answer cannot be written"});
}

}  // namespace

void add_tune_check(CLI::App& tune, int& exit_code) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = tune.add_subcommand("check", "Read catalogues: what is in them, and everything that is wrong, with its line");
  command->add_option("CATALOGUE", *files, fmt::format("YAML files, or names: {}", fmt::join(catalogue_names(), ", ")))->required();
  command->callback([files, &exit_code] { exit_code = check(*files); });
}

}  // namespace teapot::cli
