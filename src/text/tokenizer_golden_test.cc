// Ids equal to those of the reference tokenizer, on its vocabularies.
#include <unordered_map>

#include "temporary_folder.h"
#include "text/byte_level.h"
#include "text/tokenizer_directory.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_testing.h"

namespace teapot::text {
namespace {

using testing::shared_data;
using testing::TemporaryFolder;
using testing::test_data;

TEST(TokenizerGolden, Small) { expect_golden_ids(small_tokenizer(), test_data("text/small_tokenizer.jsonl")); }

TEST(TokenizerGolden, SmallWithMergesAsTexts) {
  const auto tokenizer = load_tokenizer_json(small_tokenizer_path("tokenizer_string_merges.json"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  expect_golden_ids(*tokenizer, test_data("text/small_tokenizer.jsonl"));
}

TEST(TokenizerGolden, SmallFromVocabAndMerges) {
  const auto parts = parse_tokenizer_json(read_file(small_tokenizer_path()).value(), "tokenizer.json");
  Json decoder = Json::object();
  for (const AddedToken& token : parts->added) decoder[std::to_string(token.id)] = {{"content", token.content}, {"special", token.special}};
  const TemporaryFolder directory;
  for (const char* name : {"vocab.json", "merges.txt"}) std::filesystem::copy_file(small_tokenizer_path(name), directory / name);
  const Json config = {{"added_tokens_decoder", decoder}, {"tokenizer_class", "Qwen3_5Tokenizer"}, {"eos_token", "<|im_end|>"}};
  ASSERT_TRUE(write_file(directory / "tokenizer_config.json", config.dump()));
  const auto tokenizer = load_tokenizer_directory(directory.path());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->eos_id(), tokenizer->token_id("<|im_end|>"));
  expect_golden_ids(*tokenizer, test_data("text/small_tokenizer.jsonl"));
}

TEST(TokenizerGolden, SmallFromGguf) {
  const auto parts = parse_tokenizer_json(read_file(small_tokenizer_path()).value(), "tokenizer.json");
  GgufTokenizer metadata;
  metadata.source = "small.gguf";
  metadata.model = "gpt2";
  metadata.pre = "qwen35";
  metadata.tokens.resize(parts->vocab.size() + parts->added.size());
  metadata.token_type.assign(metadata.tokens.size(), 1);
  for (const auto& [token, id] : parts->vocab) metadata.tokens[id] = token;
  for (const AddedToken& token : parts->added) {
    metadata.tokens[token.id] = token.content;
    metadata.token_type[token.id] = token.special ? 3 : 4;
    if (token.content == "<|im_end|>") metadata.eos_token_id = token.id;
  }
  for (const auto& [left, right] : parts->merges) metadata.merges.push_back(left + ' ' + right);
  const auto tokenizer = load_tokenizer_gguf(metadata);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->eos_id(), tokenizer->token_id("<|im_end|>"));
  expect_golden_ids(*tokenizer, test_data("text/small_tokenizer.jsonl"));
}

TEST(TokenizerGolden, Qwen3) {
  TEAPOT_NEEDS(shared_data("tokenizers/qwen3"));
  const auto tokenizer = load_tokenizer_directory(shared_data("tokenizers/qwen3").string());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->vocab_size(), 151669);
  EXPECT_EQ(tokenizer->eos_id(), 151645);
  expect_golden_ids(*tokenizer, shared_data("text/tokenizer_qwen3.jsonl"));
}

TEST(TokenizerGolden, Qwen3VocabularyWithTheRegexOfQwen35) {
  TEAPOT_NEEDS(shared_data("tokenizers/qwen3"));
  auto parts = parse_tokenizer_json(read_file(shared_data("tokenizers/qwen3/tokenizer.json").string()).value(), "tokenizer.json");
  ASSERT_TRUE(parts) << parts.error().message;
  parts->pattern = read_json_file(shared_data("text/tokenizer_qwen35_pattern.json").string()).value().at("pattern").get<std::string>();
  EXPECT_EQ(parts->pattern, kQwen35Pattern);
  expect_golden_ids(Tokenizer::build(*parts).value(), shared_data("text/tokenizer_qwen35.jsonl"));
}

// The vocabulary of Qwen3.6 is there as a .tiktoken file: bytes and rank. A token's merge joins the two parts that merging with all
// ranks but its own leaves of it.
class TiktokenFile {
 public:
  explicit TiktokenFile(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string token;
    for (int32_t rank = 0; file >> token >> rank;) {
      tokens_.push_back(decode_base64(token));
      ranks_[tokens_.back()] = rank;
    }
  }

  TokenizerParts parts() const {
    TokenizerParts parts;
    parts.source = "qwen3_6.tiktoken";
    parts.pattern = kQwen35Pattern;
    parts.nfc = true;
    for (const std::string& token : tokens_) {
      parts.vocab.emplace_back(token_of_bytes(token), ranks_.at(token));
      const auto halves = token.size() > 1 ? split_in_two(token) : std::vector<std::string>();
      if (halves.size() == 2) parts.merges.emplace_back(token_of_bytes(halves[0]), token_of_bytes(halves[1]));
    }
    return parts;
  }

 private:
  static std::string decode_base64(std::string_view text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
      if (c == '=') break;
      bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
      count += 6;
      if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8));
    }
    return bytes;
  }

  std::vector<std::string> split_in_two(const std::string& token) const {
    std::vector<std::string> parts;
    for (const char c : token) parts.emplace_back(1, c);
    while (parts.size() > 2) {
      int32_t best = INT32_MAX;
      size_t at = 0;
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto rank = ranks_.find(parts[i] + parts[i + 1]);
        if (rank == ranks_.end() || rank->second >= best || rank->first == token) continue;
        best = rank->second;
        at = i;
      }
      if (best == INT32_MAX) return {};
      parts[at] += parts[at + 1];
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(at) + 1);
    }
    return parts;
  }

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t> ranks_;
};

TEST(TokenizerGolden, Qwen36) {
  const auto directory = shared_data("tokenizers/qwen3.6");
  TEAPOT_NEEDS(directory);
  TokenizerParts parts = TiktokenFile(directory / "qwen3_6.tiktoken").parts();
  EXPECT_EQ(parts.vocab.size(), 248044);
  EXPECT_EQ(parts.merges.size(), 247587);
  constexpr const char* kAdded[] = {"<|endoftext|>",
                                    "<|im_start|>",
                                    "<|im_end|>",
                                    "<|object_ref_start|>",
                                    "<|object_ref_end|>",
                                    "<|box_start|>",
                                    "<|box_end|>",
                                    "<|quad_start|>",
                                    "<|quad_end|>",
                                    "<|vision_start|>",
                                    "<|vision_end|>",
                                    "<|vision_pad|>",
                                    "<|image_pad|>",
                                    "<|video_pad|>",
                                    "<tool_call>",
                                    "</tool_call>",
                                    "<|fim_prefix|>",
                                    "<|fim_middle|>",
                                    "<|fim_suffix|>",
                                    "<|fim_pad|>",
                                    "<|repo_name|>",
                                    "<|file_sep|>",
                                    "<tool_response>",
                                    "</tool_response>",
                                    "<think>",
                                    "</think>",
                                    "<|audio_start|>",
                                    "<|audio_end|>",
                                    "<tts_pad>",
                                    "<tts_text_bos>",
                                    "<tts_text_eod>",
                                    "<tts_text_bos_single>",
                                    "<|audio_pad|>"};
  for (const char* content : kAdded) parts.added.push_back({.id = 248044 + static_cast<int64_t>(parts.added.size()), .content = content});
  const auto tokenizer = Tokenizer::build(parts);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->vocab_size(), 248077);
  EXPECT_EQ(tokenizer->token_id("<think>"), 248068);
  expect_golden_ids(*tokenizer, directory / "cases.jsonl");
}

// Of a checkpoint's own file, when one was built with the script beside the .tiktoken file.
TEST(TokenizerGolden, Qwen36FromItsTokenizerJson) {
  const char* path = std::getenv("TEAPOT_QWEN36_TOKENIZER");
  if (!path) GTEST_SKIP() << "TEAPOT_QWEN36_TOKENIZER names no tokenizer.json (build_tokenizer.py beside the .tiktoken file writes one)";
  const auto tokenizer = load_tokenizer_json(path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  expect_golden_ids(*tokenizer, shared_data("tokenizers/qwen3.6/cases.jsonl"));
}

}  // namespace
}  // namespace teapot::text
