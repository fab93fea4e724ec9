#include "text/chat_template_files.h"

#include <filesystem>

#include "base/file.h"

namespace teapot::text {

Result<std::string> chat_template_of(const Json& tokenizer_config, std::string_view source) {
  if (!tokenizer_config.is_object())
    return fail(ErrorKind::kInvalid, "{}: found {}, expected an object", source, tokenizer_config.type_name());
  const auto found = tokenizer_config.find("chat_template");
  if (found == tokenizer_config.end() || found->is_null()) return fail(ErrorKind::kNotFound, "{}: there is no chat_template", source);
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) {
    return fail(ErrorKind::kInvalid, "{}: chat_template is {}, expected a string or a list of named templates", source, found->type_name());
  }
  for (const Json& one : *found) {
    const bool is_sound =
        one.is_object() && one.contains("name") && one["name"].is_string() && one.contains("template") && one["template"].is_string();
    if (!is_sound)
      return fail(ErrorKind::kInvalid, "{}: an entry of chat_template is not {{\"name\": string, \"template\": string}}", source);
    if (one["name"] == "default") return one["template"].get<std::string>();
  }
  return fail(ErrorKind::kNotFound, "{}: none of the {} chat templates is named default", source, found->size());
}

Result<std::string> load_chat_template(const std::string& directory) {
  const std::filesystem::path folder(directory);
  std::error_code ignored;
  if (const auto file = folder / "chat_template.jinja"; std::filesystem::exists(file, ignored)) return read_file(file.string());
  const auto config = folder / "tokenizer_config.json";
  if (!std::filesystem::exists(config, ignored)) {
    return fail(ErrorKind::kNotFound, "{}: there is neither chat_template.jinja nor tokenizer_config.json", directory);
  }
  TEAPOT_TRY(const Json json, read_json_file(config.string()));
  return chat_template_of(json, config.string());
}

}  // namespace teapot::text
