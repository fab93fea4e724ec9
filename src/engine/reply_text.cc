#include "engine/reply_text.h"

namespace teapot::engine {

Result<ReplyText> ReplyText::create(const TextAssets& assets, ReplyTextOptions options) {
  TEAPOT_TRY(text::StopStrings stops, text::StopStrings::create(std::move(options.stop), options.include_stop_str_in_output));
  std::optional<text::OutputParser> parser;
  if (options.parse_output) {
    TEAPOT_TRY(parser, text::OutputParser::create({.tool_format = options.tool_format, .starts_in_reasoning = options.starts_in_reasoning},
                                                  options.tools));
  }
  return ReplyText(text::Detokenizer(assets.tokenizer, options.skip_special_tokens), std::move(stops), std::move(parser));
}

std::vector<text::OutputEvent> ReplyText::push(const TokenEvent& event) {
  ++tokens_;
  if (parser_ && parser_->in_reasoning()) ++reasoning_tokens_;
  if (event.is_stop || stopped()) return {};
  auto piece = stops_.push(detokenizer_.push(event.id));
  if (piece.matched) matched_ = std::move(*piece.matched);
  return read(std::move(piece.emitted));
}

std::vector<text::OutputEvent> ReplyText::finish(FinishReason reason) {
  std::vector<text::OutputEvent> events;
  const auto append = [&](std::vector<text::OutputEvent> more) { std::ranges::move(more, std::back_inserter(events)); };
  if (!stopped()) {
    auto piece = stops_.push(detokenizer_.flush());
    if (piece.matched) matched_ = std::move(*piece.matched);
    append(read(std::move(piece.emitted)));
    append(read(stops_.finish(reason == FinishReason::kLength ? text::StopStrings::End::kLength : text::StopStrings::End::kEos).flush));
  }
  if (parser_) append(parser_->finish());
  return events;
}

std::vector<text::OutputEvent> ReplyText::read(std::string piece) {
  if (piece.empty()) return {};
  if (parser_) return parser_->push(piece);
  std::vector<text::OutputEvent> events;
  events.emplace_back(text::ContentDelta{std::move(piece)});
  return events;
}

}  // namespace teapot::engine
