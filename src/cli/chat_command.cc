// teapot chat MODEL: a conversation in the terminal.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/chat_prompt.h"
#include "cli/chat_session.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/line_reader.h"
#include "cli/model_options.h"
#include "cli/reply_report.h"
#include "cli/reply_waiter.h"
#include "cli/sampling_options.h"
#include "engine/sampling_defaults.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  SamplingOptions sampling;
  std::string system;
  std::string template_kwargs = "{}";
  uint32_t max_tokens = 0;
};

// Reasoning dimmed on a terminal, between tags otherwise.
class ReplyPrinter {
 public:
  void print(const text::OutputEvent& event) {
    if (const auto* reasoning = std::get_if<text::ReasoningDelta>(&event)) {
      if (!in_reasoning_) put(terminal_ ? "\x1b[2m" : "<think>");
      in_reasoning_ = true;
      put(reasoning->text);
      reasoning_ += reasoning->text;
    } else if (const auto* content = std::get_if<text::ContentDelta>(&event)) {
      end_reasoning();
      put(content->text);
      content_ += content->text;
    }
    std::fflush(stdout);
  }

  void end(const std::string& note) {
    if (in_reasoning_) put(terminal_ ? "\x1b[0m" : "</think>");
    fmt::print("\n{}[{}]{}\n", terminal_ ? "\x1b[2m" : "", note, terminal_ ? "\x1b[0m" : "");
    std::fflush(stdout);
  }

  const std::string& reasoning() const { return reasoning_; }
  const std::string& content() const { return content_; }

 private:
  static void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

  void end_reasoning() {
    if (in_reasoning_) put(terminal_ ? "\x1b[0m\n\n" : "</think>\n");
    in_reasoning_ = false;
  }

  bool terminal_ = isatty(STDOUT_FILENO) == 1;
  bool in_reasoning_ = false;
  std::string reasoning_, content_;
};

// One reply to the session's conversation. On an error nothing of it is kept.
Status reply(ChatSession& session, const engine::LoadedEngine& loaded, InterruptWatch& interrupt) {
  TEAPOT_TRY(ChatPrompt prompt, chat_prompt(*loaded.text, session.messages(), session.template_kwargs()));
  TEAPOT_TRY(engine::ReplyText text, engine::ReplyText::create(*loaded.text, {.starts_in_reasoning = prompt.starts_in_reasoning}));
  const auto waiter = std::make_shared<ReplyWaiter>(std::move(text));
  engine::GenerateRequest request;
  request.prompt = std::move(prompt.ids);
  request.message_end = prompt.message_end;
  request.sampling = session.sampling();
  request.max_tokens = session.max_tokens();
  interrupt.take();  // one from before is not meant for this reply
  TEAPOT_TRY(const engine::RequestId id, loaded.engine->submit(std::move(request), {waiter}));
  ReplyPrinter printer;
  while (true) {
    const ReplyWaiter::News news = waiter->wait(std::chrono::milliseconds(20));
    if (interrupt.take()) loaded.engine->cancel(id);
    for (const text::OutputEvent& event : news.events) printer.print(event);
    if (!news.finish) continue;
    if (news.finish->error) return std::unexpected(*news.finish->error);
    std::string note = timings_line(news.finish->timings);
    if (news.finish->reason == engine::FinishReason::kLength) note += "; cut at the length limit";
    if (news.finish->reason == engine::FinishReason::kCancelled) note += "; stopped";
    printer.end(note);
    session.add_reply(printer.reasoning(), printer.content());
    return {};
  }
}

Status chat(const Arguments& arguments) {
  TEAPOT_TRY(Json kwargs, parse_json(arguments.template_kwargs, "--template-kwargs"));
  if (!kwargs.is_object()) return fail(ErrorKind::kInvalid, "--template-kwargs: expected a JSON object, found {}", kwargs.type_name());
  TEAPOT_TRY(const engine::LoadedEngine loaded, load_engine(arguments.model, /*text_needed=*/true));
  if (!loaded.text || !loaded.text->chat_template) {
    return fail(ErrorKind::kUnsupported, "{}: the model has no chat template; `teapot run` continues plain text", arguments.model.model);
  }
  engine::SamplingParams sampling = engine::default_sampling(loaded.engine->generation());
  apply(arguments.sampling, sampling);
  ChatSession session(std::move(sampling), std::move(kwargs));
  session.set_system(arguments.system);
  session.set_max_tokens(arguments.max_tokens);

  TEAPOT_TRY(LineReader reader, LineReader::open("> "));
  InterruptWatch interrupt;
  if (isatty(STDIN_FILENO) == 1) fmt::print("/help lists the commands, Ctrl-D leaves.\n");
  while (const auto line = reader.read()) {
    const ChatSession::Answer answer = session.read(*line);
    if (!answer.message.empty()) fmt::print("{}\n", answer.message);
    std::fflush(stdout);
    if (answer.next == ChatSession::Next::kQuit) break;
    if (answer.next != ChatSession::Next::kReply) continue;
    if (const Status status = reply(session, loaded, interrupt); !status) {
      session.take_back();
      report(status.error());
    }
  }
  return {};
}

}  // namespace

void add_chat(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("chat", "A conversation in the terminal");
  add_model_options(*command, arguments->model);
  arguments->model.engine.scheduler.max_seqs = 1;  // one reply at a time: its context may take all memory
  command->add_option("--system", arguments->system, "System message");
  command->add_option("--max-tokens", arguments->max_tokens, "Tokens of a reply; 0: up to the context limit");
  command->add_option("--template-kwargs", arguments->template_kwargs, "Variables for the chat template, a JSON object");
  add_sampling_options(*command, arguments->sampling);
  command->callback([arguments, &exit_code] {
    if (const Status status = chat(*arguments); !status) exit_code = report(status.error());
  });
}

}  // namespace teapot::cli
