#include "text/template_facts.h"

#include "text/tags.h"

namespace teapot::text {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool mentions(std::string_view source, std::string_view text) { return source.find(text) != source.npos; }

// As a whole word, so that tool_calls_of_tools counts for neither.
bool mentions_name(std::string_view source, std::string_view name) {
  for (size_t at = source.find(name); at != source.npos; at = source.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_word(source[at - 1])) && (end == source.size() || !is_word(source[end]))) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(ToolFormat format) {
  switch (format) {
    case ToolFormat::kHermes:
      return "hermes";
    case ToolFormat::kQwen3Coder:
      return "qwen3_coder";
    case ToolFormat::kNone:
      break;
  }
  return "none";
}

TemplateFacts template_facts(std::string_view source) {
  TemplateFacts facts;
  facts.takes_tools = mentions_name(source, "tools");
  facts.has_thinking_switch = mentions_name(source, "enable_thinking");
  facts.has_preserve_thinking = mentions_name(source, "preserve_thinking");
  facts.opens_reasoning = mentions(source, kThinkOpen);
  if (facts.takes_tools && mentions(source, kCallOpen)) {
    facts.tool_format = mentions(source, "<function=") ? ToolFormat::kQwen3Coder : ToolFormat::kHermes;
  }
  return facts;
}

bool starts_in_reasoning(std::string_view rendered_prompt) { return trim(rendered_prompt).ends_with(kThinkOpen); }

}  // namespace teapot::text
