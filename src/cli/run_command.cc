// teapot run MODEL: one reply to one prompt, streamed as text or given as JSON.
#include <cassert>
#include <cstdio>
#include <memory>

#include "base/log.h"
#include "cli/chat_prompt.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/reply_report.h"
#include "cli/reply_waiter.h"
#include "cli/sampling_options.h"
#include "cli/token_ids.h"
#include "engine/sampling_defaults.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  SamplingOptions sampling;
  std::optional<std::string> prompt, ids, system;
  std::string template_kwargs = "{}";
  std::vector<std::string> stop;
  uint32_t max_tokens = 0;
  uint32_t min_tokens = 0;
  bool ignore_eos = false;
  bool raw = false;
  bool no_think = false;
  bool json = false;
};

Result<std::vector<int32_t>> prompt_ids(const Arguments& arguments, const std::optional<engine::TextAssets>& text) {
  if (arguments.ids) return parse_token_ids(*arguments.ids);
  assert(text);  // loading asked for it
  if (arguments.raw) return text->tokenizer.encode(*arguments.prompt, /*parse_added=*/true);
  if (!text->chat_template) {
    if (arguments.system) return fail(ErrorKind::kUnsupported, "--system: the model has no chat template");
    log::info("the model has no chat template: the prompt is taken as it is");
    return text->tokenizer.encode(*arguments.prompt, /*parse_added=*/true);
  }
  TEAPOT_TRY(Json kwargs, parse_json(arguments.template_kwargs, "--template-kwargs"));
  if (!kwargs.is_object()) return fail(ErrorKind::kInvalid, "--template-kwargs: expected a JSON object, found {}", kwargs.type_name());
  if (arguments.no_think) kwargs["enable_thinking"] = false;
  Json messages = Json::array();
  if (arguments.system) messages.push_back({{"role", "system"}, {"content", *arguments.system}});
  messages.push_back({{"role", "user"}, {"content", *arguments.prompt}});
  TEAPOT_TRY(ChatPrompt prompt, chat_prompt(*text, messages, kwargs));
  return std::move(prompt.ids);
}

// Text as it comes; ids where there is no text.
void print(const ReplyWaiter::News& news, bool has_text, bool first) {
  for (const text::OutputEvent& event : news.events) {
    if (const auto* content = std::get_if<text::ContentDelta>(&event)) std::fwrite(content->text.data(), 1, content->text.size(), stdout);
  }
  if (!has_text) {
    for (const int32_t id : news.ids) fmt::print("{}{}", std::exchange(first, false) ? "" : ",", id);
  }
  std::fflush(stdout);
}

Status run(const Arguments& arguments) {
  TEAPOT_TRY(const engine::LoadedEngine loaded, load_engine(arguments.model, /*text_needed=*/arguments.prompt.has_value()));
  engine::GenerateRequest request;
  TEAPOT_TRY(request.prompt, prompt_ids(arguments, loaded.text));
  request.sampling = engine::default_sampling(loaded.engine->generation());
  apply(arguments.sampling, request.sampling);
  request.max_tokens = arguments.max_tokens;
  request.min_tokens = arguments.min_tokens;
  request.ignore_eos = arguments.ignore_eos;

  std::optional<engine::ReplyText> reply_text;
  if (loaded.text) {
    TEAPOT_TRY(reply_text, engine::ReplyText::create(*loaded.text, {.stop = arguments.stop, .parse_output = false}));
  } else if (!arguments.stop.empty()) {
    return fail(ErrorKind::kUnsupported, "--stop: the model has no tokenizer, so there is no text to stop at");
  }
  const std::vector<int32_t> prompt = request.prompt;
  const auto waiter = std::make_shared<ReplyWaiter>(std::move(reply_text));
  TEAPOT_CHECK(loaded.engine->submit(std::move(request), {waiter}));

  std::vector<int32_t> ids;
  std::string text;
  std::optional<engine::Finish> finish;
  while (!finish) {
    ReplyWaiter::News news = waiter->wait(std::chrono::hours(1));
    if (!arguments.json) print(news, loaded.text.has_value(), ids.empty());
    ids.insert(ids.end(), news.ids.begin(), news.ids.end());
    for (const text::OutputEvent& event : news.events) {
      if (const auto* content = std::get_if<text::ContentDelta>(&event)) text += content->text;
    }
    finish = std::move(news.finish);
  }
  if (!arguments.json && !ids.empty()) {
    std::puts("");
    std::fflush(stdout);
  }
  if (finish->error) return std::unexpected(*finish->error);
  if (arguments.json) {
    const Json json = {{"prompt_ids", prompt},
                       {"ids", ids},
                       {"text", loaded.text ? Json(text) : Json(nullptr)},
                       {"finish_reason", finish_reason_name(finish->reason)},
                       {"timings", timings_json(finish->timings)}};
    fmt::print("{}\n", dump_json(json));
  } else if (arguments.model.verbose) {
    fmt::print(stderr, "{}\n", timings_line(finish->timings));
  }
  return {};
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "One reply to one prompt");
  add_model_options(*command, arguments->model);
  arguments->model.engine.scheduler.max_seqs = 1;  // one reply at a time: its context may take all memory
  auto* prompt = command->add_option("--prompt", arguments->prompt, "Text; goes through the chat template, unless --raw");
  auto* ids = command->add_option("--ids", arguments->ids, "Token ids: 1,2,3 or @file.npy; taken as they are");
  prompt->excludes(ids);
  auto* raw = command->add_flag("--raw", arguments->raw, "No chat template");
  command->add_option("--system", arguments->system, "System message")->excludes(ids)->excludes(raw);
  command->add_flag("--no-think", arguments->no_think, "Ask the template for a reply without reasoning (enable_thinking false)")
      ->excludes(ids);
  command->add_option("--template-kwargs", arguments->template_kwargs, "Variables for the chat template, a JSON object")->excludes(ids);
  command->add_option("--max-tokens", arguments->max_tokens, "Tokens of the reply; 0: up to the context limit");
  command->add_option("--min-tokens", arguments->min_tokens, "No stop token before so many");
  add_sampling_options(*command, arguments->sampling);
  command->add_option("--stop", arguments->stop, "Text that ends the reply; may be given several times")->allow_extra_args(false);
  command->add_flag("--ignore-eos", arguments->ignore_eos, "The model's stop tokens do not end the reply");
  command->add_flag("--json", arguments->json, "prompt_ids, ids, text, finish_reason, timings as JSON");
  command->callback([arguments, &exit_code] {
    if (!arguments->prompt && !arguments->ids) {
      exit_code = report({ErrorKind::kInvalid, "run needs --prompt or --ids"});
    } else if (const Status status = run(*arguments); !status) {
      exit_code = report(status.error());
    }
  });
}

}  // namespace teapot::cli
