// teapot text tokenize:   {"text"} -> {"ids"}
// teapot text detokenize: {"ids", "skip_special"} -> {"pieces", "text"}: a piece for each id, and the text with what its end releases
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/json_fields.h"
#include "cli/json_lines.h"
#include "cli/open_tokenizer.h"
#include "cli/text_commands.h"
#include "text/detokenizer.h"

namespace teapot::cli {
namespace {

Result<Json> tokenize(const text::Tokenizer& tokenizer, bool parse_added, const Json& line) {
  TEAPOT_TRY(const Json value, field(line, "text"));
  if (!value.is_string()) return fail(ErrorKind::kInvalid, "text: {} where a string is expected", found(value));
  TEAPOT_TRY(const std::vector<int32_t> ids, tokenizer.encode(value.get_ref<const std::string&>(), parse_added));
  return Json{{"ids", ids}};
}

Result<int32_t> token_id(const Json& value, size_t index) {
  if (!value.is_number_integer()) return fail(ErrorKind::kInvalid, "ids[{}]: {} where an integer is expected", index, value.type_name());
  const bool in_range = value.is_number_unsigned() ? value.get<uint64_t>() <= INT32_MAX : value.get<int64_t>() >= 0;
  if (!in_range) return fail(ErrorKind::kInvalid, "ids[{}]: {} is no token id", index, value.dump());
  return value.get<int32_t>();
}

Result<Json> detokenize(const text::Tokenizer& tokenizer, const Json& line) {
  TEAPOT_TRY(const Json ids, field(line, "ids"));
  if (!ids.is_array()) return fail(ErrorKind::kInvalid, "ids: {} where an array of integers is expected", found(ids));
  TEAPOT_TRY(const bool skip_special, optional_bool(line, "skip_special", false));
  text::Detokenizer detokenizer(tokenizer, skip_special);
  Json pieces = Json::array();
  std::string whole;
  for (size_t i = 0; i < ids.size(); ++i) {
    TEAPOT_TRY(const int32_t id, token_id(ids[i], i));
    pieces.push_back(detokenizer.push(id));
    whole += pieces.back().get_ref<const std::string&>();
  }
  return Json{{"pieces", std::move(pieces)}, {"text", whole + detokenizer.flush()}};
}

// Adds a command that answers lines with the tokenizer of its argument MODEL.
template <class Answer>
CLI::App* add_tokenizer_command(CLI::App& text, const char* name, const char* help, int& exit_code, Answer answer) {
  CLI::App* command = text.add_subcommand(name, help);
  auto model = std::make_shared<std::string>();
  command->add_option("MODEL", *model, "Directory with tokenizer files, tokenizer.json or GGUF file")->required();
  command->callback([model, answer, &exit_code] {
    const auto tokenizer = open_tokenizer(*model);
    if (!tokenizer) {
      exit_code = report(tokenizer.error());
      return;
    }
    exit_code = run_json_lines([&](const Json& line) { return answer(*tokenizer, line); });
  });
  return command;
}

}  // namespace

void add_text_tokenize(CLI::App& text, int& exit_code) {
  auto no_added = std::make_shared<bool>(false);
  CLI::App* command = add_tokenizer_command(
      text, "tokenize", "Text to token ids (JSON lines, stdin to stdout)", exit_code,
      [no_added](const text::Tokenizer& tokenizer, const Json& line) { return tokenize(tokenizer, !*no_added, line); });
  command->add_flag("--no-added", *no_added, "Treat added tokens in the text as text");
}

void add_text_detokenize(CLI::App& text, int& exit_code) {
  add_tokenizer_command(text, "detokenize", "Token ids to text (JSON lines, stdin to stdout)", exit_code, detokenize);
}

}  // namespace teapot::cli
