// teapot speed: decode and prefill beside their floors.
#include <cstdio>
#include <optional>
#include <string>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "workbench/speed.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  workbench::SpeedOptions speed;
  std::optional<std::string> against;
  bool json = false;
};

Result<std::string> speed(const Arguments& arguments) {
  std::optional<Json> earlier;
  if (arguments.against) {
    TEAPOT_TRY(earlier, read_json_file(*arguments.against));
  }
  TEAPOT_TRY(const LoadedBackend loaded, load_backend(arguments.model));
  TEAPOT_TRY(const workbench::Speed measured, workbench::measure_speed(loaded.model, *loaded.backend, arguments.speed,
                                                                       [](const std::string& what) { log::info("measuring {}", what); }));
  Json json = workbench::to_json(measured);
  std::string text = workbench::to_text(measured);
  if (earlier) {
    TEAPOT_TRY(json["against"], workbench::compare(*earlier, json));
    text += workbench::comparison_text(json["against"]);
  }
  return arguments.json ? dump_json(json) + "\n" : text;
}

int run(const Arguments& arguments) {
  const auto text = speed(arguments);
  if (!text) return report(text.error());
  const bool written = std::fwrite(text->data(), 1, text->size(), stdout) == text->size() && std::fflush(stdout) == 0;
  return written ? 0 : report(Error{ErrorKind::kIo, "the answer cannot be written"});
}

}  // namespace

void add_speed(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("speed", "Measure decode and prefill beside the floors that this host sets");
  add_backend_options(*command, arguments->model);
  workbench::SpeedOptions& options = arguments->speed;
  command->add_option("-c,--concurrency", options.concurrency, "Sequences of a decode step: 1,2,4,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_option("--prompt", options.prompt, "Tokens of each sequence before it decodes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--gen", options.gen, "Decode steps of a round")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--repeat", options.repeat, "Rounds, each between two measurements of the roof")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--prefill-chunk", options.prefill_chunk, "Tokens of the prompt that a step reads")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  command->add_option("--against", arguments->against, "An earlier --json of the same work: ratios, and whether the results changed");
  command->add_flag("--json", arguments->json, "As one JSON object");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace teapot::cli
