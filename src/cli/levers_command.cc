// teapot levers: what became of every switch, on this host and for this model; or all of them as a catalogue for `teapot tune`.
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/lever_catalogue.h"
#include "cli/model_options.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  bool json = false, catalogue = false;
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

Result<std::string> answer(const Arguments& arguments) {
  const bool with_model = !arguments.model.model.empty();
  if (arguments.catalogue && !with_model) return lever_catalogue({});
  if (!with_model) return fail(ErrorKind::kInvalid, "model is required, except with --catalogue");
  TEAPOT_TRY(const engine::LoadedEngine loaded, load_engine(arguments.model, /*text_needed=*/false));
  const std::vector<plan::SwitchReport> switches = loaded.engine->switches();
  if (arguments.catalogue) return lever_catalogue(switches);
  return arguments.json ? dump_json(plan::to_json(switches)) + "\n" : as_table(switches);
}

int run(const Arguments& arguments) {
  const Result<std::string> text = answer(arguments);
  if (!text) return report(text.error());
  const Status written = write_out(*text);
  return written ? 0 : report(written.error());
}

}  // namespace

void add_levers(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("levers", "Load a model and say what became of every switch: default, requested, active, why");
  add_model_options(*command, arguments->model);
  add_scheduler_options(*command, arguments->model.engine);
  command->get_option("model")->required(false);  // a catalogue needs none
  CLI::Option* json = command->add_flag("--json", arguments->json, "As a JSON array of {name, requested, active, reason, default}");
  command
      ->add_flag("--catalogue", arguments->catalogue,
                 "As YAML for `teapot tune --catalogue`: values, ranks, risks; with a model, what became of them with it, too")
      ->excludes(json);
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace teapot::cli
