// teapot roof: what this host can do at most.
#include <memory>
#include <string>

#include "cli/commands.h"
#include "workbench/roof.h"

namespace teapot::cli {
namespace {

struct Options {
  size_t threads = 0;
  bool json = false;
};

int run(const Options& options) {
  const auto roof = workbench::measure_roof(options.threads);
  if (!roof) return report(roof.error());
  const std::string text = options.json ? dump_json(workbench::to_json(*roof)) + "\n" : workbench::to_text(*roof);
  const Status written = write_out(text);
  return written ? 0 : report(written.error());
}

}  // namespace

void add_roof(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("roof", "Measure what this host can do at most: read bandwidth, arithmetic, barriers, page sizes");
  command->add_option("--threads", options->threads, "Threads; 0: one a physical core that the process may use")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->json, "As one JSON object");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace teapot::cli
