#include "workbench/bench/dataset_file.h"

#include "base/file.h"
#include "text/utf8.h"
#include "workbench/bench/request_body.h"

namespace teapot::workbench {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Result<std::string> text_field(const Json& object, const char* name) {
  const auto field = object.is_object() ? object.find(name) : object.end();
  if (field == object.end() || !field->is_string()) {
    return fail(ErrorKind::kInvalid, "found no text in \"{}\"; expected an object with it", name);
  }
  return std::string(trimmed(field->get_ref<const std::string&>()));
}

Result<Prompt> question(std::string_view line, bool answered, const BodyOptions& body) {
  TEAPOT_TRY(const Json object, parse_json(line, "the line"));
  TEAPOT_TRY(std::string text, text_field(object, "question"));
  Prompt prompt = prompt_of(std::move(text), body);
  if (answered) {
    TEAPOT_TRY(prompt.answer, text_field(object, "answer"));
  }
  return prompt;
}

// JSON that is neither an array nor an object (a number, a word in quotes) is text like any other.
Result<Prompt> any_line(std::string_view line, const BodyOptions& body) {
  const bool may_be_json = line.starts_with('[') || line.starts_with('{');
  const auto json = may_be_json ? parse_json(line, "the line") : Result<Json>(Json());
  if (!json || json->is_null()) return prompt_of(std::string(line), body);
  Prompt prompt;
  if (json->is_object()) {
    prompt.body = *json;
  } else if (body.chat) {
    prompt.messages = *json;
  } else {
    return fail(ErrorKind::kInvalid, "found messages; expected text: /v1/completions takes no messages");
  }
  return prompt;
}

Result<Prompt> read_line(const std::string& dataset, std::string_view line, const BodyOptions& body) {
  if (dataset == "custom") return prompt_of(std::string(line), body);
  if (dataset == "line_by_line") return any_line(line, body);
  return question(line, dataset == "gsm8k", body);
}

}  // namespace

Result<std::vector<Prompt>> read_dataset_file(const std::string& dataset, const std::string& path, const BodyOptions& body) {
  TEAPOT_TRY(const std::string text, read_file(path));
  std::vector<Prompt> prompts;
  size_t number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = trimmed(std::string_view(text).substr(start, end - start));
    start = end + 1;
    ++number;
    if (line.empty()) continue;
    const std::string at_line = fmt::format("{}, line {}", path, number);
    if (text::find_ill_formed(line) != line.npos) return fail(ErrorKind::kInvalid, "{}: found bytes that are not UTF-8", at_line);
    auto prompt = read_line(dataset, line, body);
    if (!prompt) return at(at_line, std::move(prompt).error());
    prompts.push_back(*std::move(prompt));
  }
  return prompts;
}

}  // namespace teapot::workbench
