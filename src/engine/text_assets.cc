#include "engine/text_assets.h"

#include <filesystem>

#include "engine/gguf_text.h"
#include "text/chat_template_files.h"
#include "text/tokenizer_directory.h"

namespace teapot::engine {
namespace {

// What is none is taken for a GGUF file, whose reader says what is wrong with it.
bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Result<TextAssets> assemble(Result<text::Tokenizer> tokenizer, const Result<std::optional<std::string>>& source, const std::string& path) {
  if (!tokenizer) return std::unexpected(std::move(tokenizer).error());
  if (!source) return std::unexpected(source.error());
  TextAssets assets{.tokenizer = *std::move(tokenizer), .chat_template = std::nullopt, .facts = {}};
  if (*source) {
    auto compiled = text::ChatTemplate::parse(**source);
    if (!compiled) return at(path, std::move(compiled).error());
    assets.chat_template = *std::move(compiled);
    assets.facts = text::template_facts(**source);
  }
  return assets;
}

Result<std::optional<std::string>> directory_template(const std::string& path) {
  auto source = text::load_chat_template(path);
  if (source) return *std::move(source);
  if (source.error().kind == ErrorKind::kNotFound) return std::nullopt;
  return std::unexpected(std::move(source).error());
}

Result<TextAssets> from_directory(const std::string& path) {
  return assemble(text::load_tokenizer_directory(path), directory_template(path), path);
}

Result<TextAssets> from_gguf(const model::Gguf& gguf, const std::string& path) {
  TEAPOT_TRY(const text::GgufTokenizer metadata, gguf_tokenizer(gguf, path));
  return assemble(text::load_tokenizer_gguf(metadata), gguf_chat_template(gguf), path);
}

}  // namespace

Result<TextAssets> TextAssets::load(const std::string& model_path) {
  if (is_directory(model_path)) return from_directory(model_path);
  TEAPOT_TRY(const model::Gguf gguf, model::open_gguf(model_path));
  return from_gguf(gguf, model_path);
}

Result<TextAssets> TextAssets::of(const model::Model& model) {
  return model.gguf() != nullptr ? from_gguf(*model.gguf(), model.path) : from_directory(model.path);
}

Result<std::string> chat_template_source(const std::string& model_path) {
  if (is_directory(model_path)) return text::load_chat_template(model_path);
  TEAPOT_TRY(const model::Gguf gguf, model::open_gguf(model_path));
  TEAPOT_TRY(std::optional<std::string> source, gguf_chat_template(gguf));
  if (!source) return fail(ErrorKind::kNotFound, "{}: the file has no chat template (no key tokenizer.chat_template)", model_path);
  return *std::move(source);
}

std::vector<int32_t> TextAssets::ids_without_token(uint32_t vocab_rows) const {
  std::vector<int32_t> ids;
  for (uint32_t id = 0; id < vocab_rows; ++id) {
    if (!tokenizer.has_token(static_cast<int32_t>(id))) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

}  // namespace teapot::engine
