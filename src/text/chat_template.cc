#include "text/chat_template.h"

#include <algorithm>
#include <new>

#include "text/jinja/characters.h"
#include "text/jinja/failure.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/lexer.h"
#include "text/jinja/parser.h"

namespace teapot::text {
namespace {

TemplateError located(std::string_view source, jinja::Failure&& failure, uint32_t fallback) {
  const std::string_view before = source.substr(0, std::min<size_t>(failure.offset.value_or(fallback), source.size()));
  const size_t line = before.rfind('\n') + 1;  // npos + 1 is 0
  return {failure.kind, std::move(failure.message), 1 + static_cast<int>(std::ranges::count(before, '\n')),
          1 + static_cast<int>(jinja::count_characters(before.substr(line)))};
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

}  // namespace

std::expected<ChatTemplate, TemplateError> ChatTemplate::compile(std::string_view source) {
  try {
    return ChatTemplate(jinja::parse_program(source));
  } catch (jinja::Failure& failure) {
    // The parser's offsets are into the text with its line breaks normalised; only a refused text has none of that.
    std::string normal;
    try {
      normal = jinja::normalize_source(source);
    } catch (const jinja::Failure&) {
      normal.clear();
    }
    return std::unexpected(located(normal, std::move(failure), 0));
  }
}

Result<ChatTemplate> ChatTemplate::parse(const std::string& source) {
  auto compiled = compile(source);
  if (!compiled) return std::unexpected(as_error(compiled.error()));
  return *std::move(compiled);
}

std::expected<std::string, TemplateError> ChatTemplate::render(const Json& context, const RenderOptions& options) const {
  if (!context.is_object()) return std::unexpected(TemplateError{TemplateErrorKind::kRuntime, "the template's context must be an object"});
  const std::tm now = options.now ? *options.now : local_time();
  jinja::Heap heap(options.max_steps, options.max_value_bytes);
  jinja::Interpreter interpreter(*program_, heap, now, options.max_output_bytes);
  try {
    return interpreter.run(context);
  } catch (jinja::Failure& failure) {
    return std::unexpected(located(program_->source, std::move(failure), interpreter.where()));
  } catch (const std::bad_alloc&) {
    return std::unexpected(TemplateError{TemplateErrorKind::kBudget, "not enough memory to render the template"});
  }
}

Error as_error(const TemplateError& error) {
  if (error.kind == TemplateErrorKind::kRaise) return {ErrorKind::kInvalid, error.message};
  return {ErrorKind::kInvalid, fmt::format("chat template, line {}, column {}: {}", error.line, error.column, error.message)};
}

}  // namespace teapot::text
