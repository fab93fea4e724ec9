#include "cli/open_tokenizer.h"

#include <filesystem>

#include "engine/gguf_text.h"
#include "text/tokenizer_directory.h"
#include "text/tokenizer_json.h"

namespace teapot::cli {

Result<text::Tokenizer> open_tokenizer(const std::string& model_or_dir) {
  std::error_code error;
  if (std::filesystem::is_directory(model_or_dir, error)) return text::load_tokenizer_directory(model_or_dir);
  if (model_or_dir.ends_with(".json")) return text::load_tokenizer_json(model_or_dir);
  TEAPOT_TRY(const model::Gguf gguf, model::open_gguf(model_or_dir));
  TEAPOT_TRY(const text::GgufTokenizer metadata, engine::gguf_tokenizer(gguf, model_or_dir));
  return text::load_tokenizer_gguf(metadata);
}

}  // namespace teapot::cli
