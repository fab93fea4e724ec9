#include "text/tokenizer_json.h"

#include "base/file.h"
#include "text/added_tokens_json.h"
#include "text/vocab_json.h"

namespace teapot::text {
namespace {

using Dom = nlohmann::json;

// One tokenizer.json on its way to TokenizerParts.
class Interpreter {
 public:
  Interpreter(const Dom& root, std::string_view source) : root_(root), source_(source) {}

  Status fill(TokenizerParts& parts) const {
    if (!root_.is_object()) return fail(ErrorKind::kInvalid, "{}: expected an object, found {}", source_, root_.type_name());
    TEAPOT_CHECK(check_model());
    TEAPOT_TRY(parts.nfc, normalizer(get(root_, "normalizer"), "normalizer"));
    TEAPOT_TRY(parts.pattern, pre_tokenizer());
    TEAPOT_CHECK(check_byte_level_only("decoder", false));
    TEAPOT_CHECK(check_byte_level_only("post_processor", true));
    const Dom& added = get(root_, "added_tokens");
    if (added.is_null()) return {};
    if (!added.is_array()) return wrong("added_tokens", "an array", added);
    for (size_t i = 0; i < added.size(); ++i) {
      const std::string field = fmt::format("{}: added_tokens[{}]", source_, i);
      TEAPOT_TRY(AddedToken token, read_added_token(added[i], field));
      TEAPOT_TRY(token.id, read_added_token_id(added[i], field));
      parts.added.push_back(std::move(token));
    }
    return {};
  }

 private:
  // null if it is not there, which means the same in this format.
  static const Dom& get(const Dom& object, const char* key) {
    static const Dom kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
  }

  std::unexpected<Error> wrong(const std::string& field, std::string_view expected, const Dom& found) const {
    return fail(ErrorKind::kInvalid, "{}: {}: expected {}, found {}", source_, field, expected, shown(found));
  }

  std::unexpected<Error> unsupported(const std::string& field, std::string_view expected, const Dom& found) const {
    return fail(ErrorKind::kUnsupported, "{}: {}: {} is not supported, expected {}", source_, field, shown(found), expected);
  }

  static std::string shown(const Dom& found) {
    if (found.is_object() || found.is_array()) return std::string("an ") + found.type_name();
    return found.dump(-1, ' ', false, Dom::error_handler_t::replace);
  }

  // The "type" of an object.
  Result<std::string> type_of(const Dom& object, const std::string& field) const {
    if (!object.is_object()) return wrong(field, "an object", object);
    const Dom& type = get(object, "type");
    if (!type.is_string()) return wrong(field + ".type", "a text", type);
    return type.get<std::string>();
  }

  Status expect_false(const Dom& object, const char* key, const std::string& field) const {
    const Dom& found = get(object, key);
    if (found.is_null() || found == false) return {};
    return unsupported(field + "." + key, "false", found);
  }

  Status check_model() const {
    const Dom& model = get(root_, "model");
    TEAPOT_TRY(const std::string type, type_of(model, "model"));
    if (type != "BPE") return unsupported("model.type", "\"BPE\"", model["type"]);
    if (const Dom& dropout = get(model, "dropout"); !dropout.is_null() && dropout != 0)
      return unsupported("model.dropout", "null", dropout);
    const Dom none = "";
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const Dom& affix = get(model, key);
      if (!affix.is_null() && affix != none) return unsupported(std::string("model.") + key, "null", affix);
    }
    TEAPOT_CHECK(expect_false(model, "byte_fallback", "model"));
    return expect_false(model, "ignore_merges", "model");
    // unk_token and fuse_unk speak of characters without a token: each byte has one here, which build() checks.
  }

  // Whether the text is brought into NFC. A sequence does not nest: the reader bounds the depth, and so this recursion.
  Result<bool> normalizer(const Dom& object, const std::string& field) const {
    if (object.is_null()) return false;
    TEAPOT_TRY(const std::string type, type_of(object, field));
    if (type == "NFC") return true;
    if (type != "Sequence") return unsupported(field + ".type", "\"NFC\"", object["type"]);
    const Dom& list = get(object, "normalizers");
    if (!list.is_array()) return wrong(field + ".normalizers", "an array", list);
    bool nfc = false;
    for (const Dom& item : list) {
      TEAPOT_TRY(const bool one, normalizer(item, field + ".normalizers[]"));
      nfc = nfc || one;
    }
    return nfc;
  }

  // The regex: that of a Split which isolates its matches, followed by ByteLevel; or the built-in one of a lone ByteLevel.
  Result<std::string> pre_tokenizer() const {
    const Dom& object = get(root_, "pre_tokenizer");
    TEAPOT_TRY(const std::string type, type_of(object, "pre_tokenizer"));
    if (type == "ByteLevel") {
      TEAPOT_TRY(const bool use_regex, byte_level(object, "pre_tokenizer"));
      if (!use_regex) return unsupported("pre_tokenizer.use_regex", "true without a Split", get(object, "use_regex"));
      return std::string(kGpt2Pattern);
    }
    if (type != "Sequence") return unsupported("pre_tokenizer.type", "a Sequence of Split and ByteLevel", object["type"]);
    const Dom& list = get(object, "pretokenizers");
    if (!list.is_array() || list.size() != 2) return unsupported("pre_tokenizer.pretokenizers", "Split and ByteLevel", list);
    TEAPOT_TRY(std::string pattern, split_pattern(list[0], "pre_tokenizer.pretokenizers[0]"));
    TEAPOT_TRY(const bool use_regex, byte_level(list[1], "pre_tokenizer.pretokenizers[1]"));
    if (use_regex) return unsupported("pre_tokenizer.pretokenizers[1].use_regex", "false behind a Split", get(list[1], "use_regex"));
    return pattern;
  }

  Result<std::string> split_pattern(const Dom& split, const std::string& field) const {
    TEAPOT_TRY(const std::string type, type_of(split, field));
    if (type != "Split") return unsupported(field + ".type", "\"Split\"", split["type"]);
    if (get(split, "behavior") != "Isolated") return unsupported(field + ".behavior", "\"Isolated\"", get(split, "behavior"));
    TEAPOT_CHECK(expect_false(split, "invert", field));
    const Dom& pattern = get(split, "pattern");
    const Dom& regex = pattern.is_object() ? get(pattern, "Regex") : pattern;
    if (!pattern.is_object() || !regex.is_string()) return unsupported(field + ".pattern", "{\"Regex\": text}", pattern);
    return regex.get<std::string>();
  }

  // use_regex of a ByteLevel; trim_offsets is about positions in the text, which nobody asks for.
  Result<bool> byte_level(const Dom& object, const std::string& field) const {
    TEAPOT_TRY(const std::string type, type_of(object, field));
    if (type != "ByteLevel") return unsupported(field + ".type", "\"ByteLevel\"", object["type"]);
    TEAPOT_CHECK(expect_false(object, "add_prefix_space", field));
    const Dom& use_regex = get(object, "use_regex");
    if (!use_regex.is_null() && !use_regex.is_boolean()) return wrong(field + ".use_regex", "a boolean", use_regex);
    return use_regex.is_null() || use_regex == true;
  }

  // The settings of a ByteLevel decoder or post-processor change nothing about ids and bytes.
  Status check_byte_level_only(const std::string& field, bool may_miss) const {
    const Dom& object = get(root_, field.c_str());
    if (may_miss && object.is_null()) return {};
    TEAPOT_TRY(const std::string type, type_of(object, field));
    if (type != "ByteLevel") return unsupported(field + ".type", "\"ByteLevel\"", object["type"]);
    return {};
  }

  const Dom& root_;
  std::string_view source_;
};

}  // namespace

Result<TokenizerParts> parse_tokenizer_json(std::string_view text, std::string_view source) {
  TEAPOT_TRY(VocabJson json, parse_tokenizer_json_text(text, source));
  TokenizerParts parts;
  parts.source = source;
  TEAPOT_CHECK(Interpreter(json.rest, source).fill(parts));
  if (!json.has_vocab) return fail(ErrorKind::kInvalid, "{}: model.vocab: expected an object of tokens, found none", source);
  if (!json.has_merges) return fail(ErrorKind::kInvalid, "{}: model.merges: expected an array, found none", source);
  parts.vocab = std::move(json.vocab);
  parts.merges = std::move(json.merges);
  return parts;
}

Result<Tokenizer> load_tokenizer_json(const std::string& path) {
  TEAPOT_TRY(const std::string text, read_file(path));
  TEAPOT_TRY(const TokenizerParts parts, parse_tokenizer_json(text, path));
  return Tokenizer::build(parts);
}

}  // namespace teapot::text
