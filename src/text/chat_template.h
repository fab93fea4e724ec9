// Chat templates: the part of Jinja that checkpoints use to turn a conversation into a prompt, by an interpreter of our own.
// It follows Jinja 3.1's immutable sandbox with trim_blocks and lstrip_blocks, `break` and `continue`, `{% generation %}`,
// raise_exception and strftime_now, and Python's values; what it does not have it refuses with an error, never with other text.
// Templates come from files: neither they nor what they are given can hang, exhaust memory or overflow the stack.
#pragma once

#include <cstdint>
#include <ctime>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "text/template_error.h"

namespace teapot::text {

namespace jinja {
struct Program;
}

struct RenderOptions {
  // A step is one node evaluated, one item visited or 32 bytes of text looked at. Real templates take a few hundred a message;
  // this many take about a second.
  uint64_t max_steps = 20'000'000;
  size_t max_value_bytes = size_t{256} << 20;
  size_t max_output_bytes = size_t{64} << 20;
  std::optional<std::tm> now{};  // of strftime_now; else the local time
};

// Immutable: any number of threads may render with one template at once.
class ChatTemplate {
 public:
  // Errors: kSyntax and, for templates that nest too deep, kBudget.
  static std::expected<ChatTemplate, TemplateError> compile(std::string_view source);
  // The same with the place of the error in its message ("chat template, line 3, column 7: ...").
  static Result<ChatTemplate> parse(const std::string& source);

  // context: an object with the template's variables (messages, tools, add_generation_prompt, ...), its texts in UTF-8.
  std::expected<std::string, TemplateError> render(const Json& context, const RenderOptions& options = {}) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const jinja::Program> program_;
};

// "chat template, line 3, column 7: ..." as kInvalid; a template's own raise_exception is its message alone.
Error as_error(const TemplateError& error);

}  // namespace teapot::text
