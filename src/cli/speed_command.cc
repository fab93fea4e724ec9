// teapot speed: decode and prefill beside their floors.
#include <optional>
#include <string>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/draft_arguments.h"
#include "cli/model_options.h"
#include "cli/number_checks.h"
#include "cli/progress.h"
#include "workbench/draft_speed.h"
#include "workbench/speed.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  workbench::SpeedOptions speed;
  std::optional<std::string> against;
  std::vector<std::string> mtp;
  DraftArguments drafts;
  bool json = false;
};

Result<std::vector<workbench::DraftSetting>> parse_settings(const std::vector<std::string>& texts) {
  std::vector<workbench::DraftSetting> settings;
  for (const std::string& text : texts) {
    uint32_t depth = 0;
    if (text == "auto") {
      settings.emplace_back();
    } else if (CLI::detail::lexical_cast(text, depth) && depth >= 1 && depth <= engine::kMaxDrafts) {
      settings.emplace_back(depth);
    } else {
      return fail(ErrorKind::kInvalid, "--mtp: '{}'; expected 1 to {}, or auto; off is what each is measured against", text,
                  engine::kMaxDrafts);
    }
  }
  return settings;
}

// With and without drafts, in turn.
Result<std::string> draft_speed(const Arguments& arguments) {
  if (arguments.against) return fail(ErrorKind::kInvalid, "--against: not with --mtp, which compares in itself");
  workbench::DraftSpeedOptions options{.concurrency = arguments.speed.concurrency,
                                       .prompt = arguments.speed.prompt,
                                       .gen = arguments.speed.gen,
                                       .repeat = arguments.speed.repeat};
  TEAPOT_TRY(options.settings, parse_settings(arguments.mtp));
  TEAPOT_TRY(options.accept_rates, parse_accept_rates(arguments.drafts));
  TEAPOT_TRY(options.prompts, read_prompts(arguments.drafts, arguments.model));
  std::optional<ProgressBar> bar(std::in_place, "loading");
  engine::LoadHooks hooks;
  hooks.note = [](const std::string& note) { log::info("{}", note); };
  hooks.progress = [&](uint64_t done, uint64_t total) { bar->update(done, total); };
  engine::EngineOptions engine = arguments.model.engine;
  engine.scheduler.prefill_chunk = arguments.speed.prefill_chunk;
  TEAPOT_TRY(const workbench::DraftSpeeds measured,
             workbench::measure_draft_speed(arguments.model.model, engine, options, hooks, [&](const std::string& what) {
               bar.reset();
               log::info("measuring {}", what);
             }));
  engine::log_switches(measured.levers, arguments.model.verbose);
  return arguments.json ? dump_json(workbench::to_json(measured)) + "\n" : workbench::to_text(measured);
}

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
  const auto text = arguments.mtp.empty() ? speed(arguments) : draft_speed(arguments);
  if (!text) return report(text.error());
  const Status written = write_out(*text);
  return written ? 0 : report(written.error());
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
  command->add_option("--prompt", options.prompt, "Tokens of each sequence before it decodes")->check(kPositive)->capture_default_str();
  command->add_option("--gen", options.gen, "Decode steps of a round")->check(kPositive)->capture_default_str();
  command->add_option("--repeat", options.repeat, "Rounds, each between two measurements of the roof")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--prefill-chunk", options.prefill_chunk, "Tokens of the prompt that a step reads")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  command->add_option("--against", arguments->against, "An earlier --json of the same work: ratios, and whether the results changed");
  auto* mtp = command
                  ->add_option("--mtp", arguments->mtp,
                               "Measure replies with these numbers of drafts a step (1,2,4,auto) against replies without, in turn: --gen "
                               "tokens each, --repeat turns")
                  ->delimiter(',');
  for (CLI::Option* option : add_draft_arguments(*command, arguments->drafts)) option->needs(mtp);
  add_draft_vocab_option(*command, arguments->model.engine)->needs(mtp);
  command->add_flag("--json", arguments->json, "As one JSON object");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace teapot::cli
