#include "text/hermes_block.h"

#include <optional>

#include "text/tags.h"

namespace teapot::text {
namespace {

std::optional<ToolCall> to_call(std::string_view text) {
  Result<Json> json = parse_json(text, "tool call", {.max_depth = JsonObjectScanner::kMaxDepth});
  if (!json || !json->is_object()) return std::nullopt;
  const auto name = json->find("name");
  if (name == json->end() || !name->is_string()) return std::nullopt;
  ToolCall call{*name, Json()};
  if (const auto arguments = json->find("arguments"); arguments != json->end()) call.arguments = std::move(*arguments);
  if (call.arguments.is_string()) {
    Result<Json> inner = parse_json(call.arguments.get_ref<const std::string&>(), "arguments", {.max_depth = JsonObjectScanner::kMaxDepth});
    if (!inner) return std::nullopt;
    call.arguments = *std::move(inner);
  }
  if (call.arguments.is_null()) call.arguments = Json::object();
  if (!call.arguments.is_object()) return std::nullopt;
  return call;
}

}  // namespace

// No block can begin inside more than two malformed ones at once, so reading each again from its beginning stays linear: where a
// block begins inside another's string, its first quote closes that string, and from there on one of the two is outside of
// strings at any place (a backslash outside is malformed), where the next tag is malformed.
void HermesBlockReader::begin(size_t /*place*/) {
  json_.reset();
  pos_ = 0;
  complete_ = false;
  calls_.clear();
}

CallBlockReader::Verdict HermesBlockReader::read(std::string_view text, bool at_end) {
  while (!complete_) {
    if (pos_ == text.size()) return at_end ? Verdict::kMalformed : Verdict::kOpen;
    switch (json_.feed(text[pos_++])) {
      case JsonObjectScanner::State::kOpen:
        break;
      case JsonObjectScanner::State::kBroken:
        return Verdict::kMalformed;
      case JsonObjectScanner::State::kComplete: {
        std::optional<ToolCall> call = to_call(text.substr(0, pos_));
        if (!call) return Verdict::kMalformed;
        calls_.push_back(*std::move(call));
        complete_ = true;
      }
    }
  }
  pos_ = skip_white_space(text, pos_);
  const TagAt close = tag_at(text, pos_, kCallClose);
  const TagAt open = tag_at(text, pos_, kCallOpen);
  end_ = pos_ + (close == TagAt::kYes ? kCallClose.size() : 0);
  if (close == TagAt::kYes || open == TagAt::kYes) return Verdict::kAccepted;
  if (at_end) return pos_ == text.size() ? Verdict::kAccepted : Verdict::kMalformed;
  return close == TagAt::kOpen || open == TagAt::kOpen ? Verdict::kOpen : Verdict::kMalformed;
}

}  // namespace teapot::text
