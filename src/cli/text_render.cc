// teapot text render [MODEL]: {"template", "context"} -> {"text"} or {"error", "kind", "line", "column"}
#include <cstdio>
#include <iomanip>
#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/json_fields.h"
#include "cli/json_lines.h"
#include "cli/text_commands.h"
#include "engine/text_assets.h"
#include "text/chat_template.h"

namespace teapot::cli {
namespace {

Json describe(const text::TemplateError& error) {
  return {{"error", error.message}, {"kind", text::name_of(error.kind)}, {"line", error.line}, {"column", error.column}};
}

// "YYYY-MM-DD HH:MM:SS", with the day of the week and of the year filled in.
Result<std::tm> parse_time(const std::string& text) {
  std::tm time{};
  std::istringstream in(text);
  in >> std::get_time(&time, "%Y-%m-%d %H:%M:%S");
  time.tm_isdst = -1;
  std::tm normal = time;
  const bool is_time = !in.fail() && in.peek() == std::istringstream::traits_type::eof() && std::mktime(&normal) != -1;
  if (!is_time) return fail(ErrorKind::kInvalid, "--now: '{}' is no time, expected YYYY-MM-DD HH:MM:SS", text);
  return normal;
}

Result<Json> render(const Json& line, const std::optional<text::ChatTemplate>& model_template, const text::RenderOptions& options) {
  if (!line.is_object()) return fail(ErrorKind::kInvalid, "the line is {}, expected an object", line.type_name());
  std::optional<text::ChatTemplate> own;
  if (line.contains("template")) {
    if (!line["template"].is_string())
      return fail(ErrorKind::kInvalid, "template: found {}, expected a string", line["template"].type_name());
    auto compiled = text::ChatTemplate::compile(line["template"].get_ref<const std::string&>());
    if (!compiled) return describe(compiled.error());
    own = *std::move(compiled);
  } else if (!model_template) {
    return fail(ErrorKind::kInvalid, "template: missing, and no MODEL was given whose template could be used");
  }
  const Json context = line.value("context", Json::object());
  if (!context.is_object()) return fail(ErrorKind::kInvalid, "context: found {}, expected an object", context.type_name());
  auto text = (own ? *own : *model_template).render(context, options);
  if (!text) return describe(text.error());
  return Json{{"text", *std::move(text)}};
}

Result<std::optional<text::ChatTemplate>> open_template(const std::string& model) {
  if (model.empty()) return std::nullopt;
  TEAPOT_TRY(const std::string source, engine::chat_template_source(model));
  TEAPOT_TRY(text::ChatTemplate compiled, text::ChatTemplate::parse(source));
  return compiled;
}

Result<int> run(const std::string& model, const std::string& now) {
  text::RenderOptions options;
  if (!now.empty()) {
    TEAPOT_TRY(options.now, parse_time(now));
  }
  TEAPOT_TRY(const auto model_template, open_template(model));
  return run_json_lines([&](const Json& line) { return render(line, model_template, options); });
}

}  // namespace

void add_text_render(CLI::App& text, int& exit_code) {
  struct Options {
    std::string model;
    std::string now;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = text.add_subcommand("render", "Render chat templates (JSON lines, stdin to stdout)");
  command->add_option("MODEL", options->model, "Model directory or GGUF file whose template is used where a line has none");
  command->add_option("--now", options->now, "Local time that strftime_now sees, YYYY-MM-DD HH:MM:SS (default: the clock)");
  command->callback([options, &exit_code] {
    const auto code = run(options->model, options->now);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace teapot::cli
