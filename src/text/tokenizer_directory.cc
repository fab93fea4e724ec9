#include "text/tokenizer_directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "text/added_tokens_json.h"
#include "text/tokenizer_json.h"
#include "text/vocab_json.h"

namespace teapot::text {
namespace {

using Dom = nlohmann::json;
namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// An object, empty if the file is not there.
Result<Dom> read_optional_object(const fs::path& path) {
  if (!is_there(path)) return Dom::object();
  TEAPOT_TRY(const std::string text, read_file(path.string()));
  TEAPOT_TRY(VocabJson json, parse_tokenizer_json_text(text, path.string()));
  if (!json.rest.is_object()) return fail(ErrorKind::kInvalid, "{}: expected an object, found {}", path.string(), json.rest.type_name());
  return std::move(json.rest);
}

// The text of `key`, empty if it is missing or null.
Result<std::string> optional_text(const Dom& object, const char* key, const fs::path& path) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return fail(ErrorKind::kInvalid, "{}: {}: expected a text, found {}", path.string(), key, found->type_name());
  return found->get<std::string>();
}

// The regex for a vocab.json, which says nothing about it.
Result<std::string> pattern_for(const fs::path& directory, const Dom& config) {
  TEAPOT_TRY(std::string regex, optional_text(config, "pretokenize_regex", directory / "tokenizer_config.json"));
  if (!regex.empty()) return regex;
  TEAPOT_TRY(const Dom model, read_optional_object(directory / "config.json"));
  TEAPOT_TRY(const std::string model_type, optional_text(model, "model_type", directory / "config.json"));
  TEAPOT_TRY(const std::string tokenizer_class, optional_text(config, "tokenizer_class", directory / "tokenizer_config.json"));
  const std::string& name = model_type.empty() ? tokenizer_class : model_type;
  if (name.starts_with("qwen3_5") || name.starts_with("Qwen3_5")) return std::string(kQwen35Pattern);
  if (name.starts_with("qwen2") || name.starts_with("qwen3") || name.starts_with("Qwen2")) return std::string(kQwen2Pattern);
  return fail(
      ErrorKind::kUnsupported,
      "{}: there is no tokenizer.json, and neither pretokenize_regex and tokenizer_class ('{}') in tokenizer_config.json nor model_type "
      "('{}') in config.json tell the regex of vocab.json",
      directory.string(), tokenizer_class, model_type);
}

Result<TokenizerParts> read_vocab_and_merges(const fs::path& directory, const Dom& config) {
  const std::string vocab_path = (directory / "vocab.json").string();
  const std::string merges_path = (directory / "merges.txt").string();
  if (!is_there(vocab_path) || !is_there(merges_path)) {
    return fail(ErrorKind::kNotFound, "{}: neither tokenizer.json nor vocab.json with merges.txt is there", directory.string());
  }
  if (is_there(directory / "added_tokens.json") && !config.contains("added_tokens_decoder")) {
    return fail(ErrorKind::kUnsupported,
                "{}: added_tokens.json does not tell which tokens are special; expected added_tokens_decoder in {}", directory.string(),
                "tokenizer_config.json");
  }
  TokenizerParts parts;
  parts.source = vocab_path;
  parts.nfc = true;
  TEAPOT_TRY(parts.pattern, pattern_for(directory, config));
  TEAPOT_TRY(const std::string vocab, read_file(vocab_path));
  TEAPOT_TRY(VocabJson json, parse_vocab_json_text(vocab, vocab_path));
  parts.vocab = std::move(json.vocab);
  TEAPOT_TRY(const std::string merges, read_file(merges_path));
  TEAPOT_TRY(parts.merges, parse_merges_txt(merges, merges_path));
  return parts;
}

// Tokens of added_tokens_decoder that tokenizer.json does not have are added, as the reference does.
Status add_decoder_tokens(const Dom& config, const std::string& source, TokenizerParts& parts) {
  const auto decoder = config.find("added_tokens_decoder");
  if (decoder == config.end() || decoder->is_null()) return {};
  if (!decoder->is_object()) return fail(ErrorKind::kInvalid, "{}: added_tokens_decoder: expected an object", source);
  std::map<std::string, AddedToken, std::less<>> known;
  for (const AddedToken& token : parts.added) known.emplace(token.content, token);
  for (const auto& [key, object] : decoder->items()) {
    const std::string field = fmt::format("{}: added_tokens_decoder['{}']", source, key);
    TEAPOT_TRY(AddedToken token, read_added_token(object, field));
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size()) return fail(ErrorKind::kInvalid, "{}: the key is not an id", field);
    const auto found = known.find(token.content);
    if (found == known.end()) {
      parts.added.push_back(std::move(token));
    } else if (found->second.id != token.id) {
      return fail(ErrorKind::kInvalid, "{}: '{}' has the id {} in {}", field, token.content, found->second.id, parts.source);
    } else if (found->second.special != token.special) {
      log::warn("{}: '{}' is special: {} here, {} in {}, which counts", field, token.content, token.special, found->second.special,
                parts.source);
    }
  }
  return {};
}

// eos_token: a text, an added token's object, or null.
Result<std::optional<std::string>> eos_token(const Dom& config, const std::string& source) {
  const auto eos = config.find("eos_token");
  if (eos == config.end() || eos->is_null()) return std::nullopt;
  if (eos->is_string()) return eos->get<std::string>();
  TEAPOT_TRY(const AddedToken token, read_added_token(*eos, source + ": eos_token"));
  return token.content;
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> parse_merges_txt(std::string_view text, std::string_view source) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (size_t line = 1; !text.empty(); ++line) {
    std::string_view merge = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), merge.size() + 1));
    if (merge.ends_with('\r')) merge.remove_suffix(1);
    if (merge.empty() || (line == 1 && merge.starts_with("#version"))) continue;
    auto parsed = parse_merge(merge);
    if (!parsed) return at(fmt::format("{}: line {}", source, line), std::move(parsed).error());
    merges.push_back(*std::move(parsed));
  }
  return merges;
}

Result<Tokenizer> load_tokenizer_directory(const std::string& directory) {
  const fs::path root(directory);
  const std::string config_path = (root / "tokenizer_config.json").string();
  TEAPOT_TRY(const Dom config, read_optional_object(config_path));
  TokenizerParts parts;
  if (const std::string path = (root / "tokenizer.json").string(); is_there(path)) {
    TEAPOT_TRY(const std::string text, read_file(path));
    TEAPOT_TRY(parts, parse_tokenizer_json(text, path));
  } else {
    TEAPOT_TRY(parts, read_vocab_and_merges(root, config));
  }
  TEAPOT_CHECK(add_decoder_tokens(config, config_path, parts));
  TEAPOT_TRY(parts.eos_token, eos_token(config, config_path));
  return Tokenizer::build(parts);
}

}  // namespace teapot::text
