#include "cli/inspect_text_facts.h"

#include "engine/text_assets.h"

namespace teapot::cli {
namespace {

Json tokenizer_facts(const engine::TextAssets& assets, uint32_t rows) {
  const text::Tokenizer& tokenizer = assets.tokenizer;
  Json facts;
  facts["vocab_size"] = tokenizer.vocab_size();
  facts["added_tokens"] = tokenizer.added_tokens().size();
  facts["ids_without_token"] = assets.ids_without_token(rows).size();
  facts["eos_id"] = tokenizer.eos_id() ? Json(*tokenizer.eos_id()) : Json();
  return facts;
}

Json template_facts(const text::TemplateFacts& facts) {
  return {{"tool_format", text::name_of(facts.tool_format)},
          {"takes_tools", facts.takes_tools},
          {"opens_reasoning", facts.opens_reasoning},
          {"has_thinking_switch", facts.has_thinking_switch},
          {"has_preserve_thinking", facts.has_preserve_thinking}};
}

}  // namespace

Result<Json> text_facts(const model::Model& model) {
  Json facts = {{"tokenizer", nullptr}, {"chat_template", nullptr}};
  const auto assets = engine::TextAssets::of(model);
  if (!assets && assets.error().kind == ErrorKind::kNotFound) return facts;
  if (!assets) return std::unexpected(assets.error());
  facts["tokenizer"] = tokenizer_facts(*assets, model.config.vocab);
  if (assets->chat_template) facts["chat_template"] = template_facts(assets->facts);
  return facts;
}

std::string text_facts_lines(const Json& facts) {
  const auto value = [](const Json& fact) { return fact.is_null() ? std::string("none") : dump_json(fact); };
  return fmt::format("{:<12}{}\n{:<12}{}\n", "tokenizer", value(facts.at("tokenizer")), "template", value(facts.at("chat_template")));
}

}  // namespace teapot::cli
