// teapot levers: what became of every switch, on this host and for this model.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/model_options.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  bool json = false;
};

std::string as_table(const std::vector<plan::SwitchReport>& switches) {
  size_t name = 4, requested = 9, active = 6, fallback = 7;  // widths, at least those of the titles
  for (const plan::SwitchReport& s : switches) {
    name = std::max(name, s.name.size());
    requested = std::max(requested, s.requested.size());
    active = std::max(active, s.active.size());
    fallback = std::max(fallback, s.default_value.size());
  }
  const auto line = [&](const plan::SwitchReport& s) {
    std::string text = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {}", s.name, name, s.default_value, fallback, s.requested, requested,
                                   s.active, active, s.reason);
    text.resize(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line({"name", "requested", "active", "reason", "default"});
  for (const plan::SwitchReport& s : switches) text += line(s);
  return text;
}

int run(const Arguments& arguments) {
  const auto loaded = load_engine(arguments.model, /*text_needed=*/false);
  if (!loaded) return report(loaded.error());
  const std::vector<plan::SwitchReport> switches = loaded->engine->switches();
  const std::string text = arguments.json ? dump_json(plan::to_json(switches)) + "\n" : as_table(switches);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : report(Error{ErrorKind::kIo, "the answer cannot be written"});
}

}  // namespace

void add_levers(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("levers", "Load a model and say what became of every switch: default, requested, active, why");
  add_model_options(*command, arguments->model);
  add_scheduler_options(*command, arguments->model.engine);
  command->add_flag("--json", arguments->json, "As a JSON array of {name, requested, active, reason, default}");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace teapot::cli
