#include "text/vocab_json.h"

#include <limits>

namespace teapot::text {
namespace {

using Dom = nlohmann::json;  // sorted keys: finding doubles does not take quadratic time, as it would in an ordered one

constexpr size_t kMaxDepth = 64;

// Receives the parser's events. The parser itself keeps its stack on the heap.
class Reader : public nlohmann::json_sax<Dom> {
 public:
  Reader(std::string_view source, bool root_is_vocab) : source_(source), root_is_vocab_(root_is_vocab) {}

  VocabJson result;
  std::string error;

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return place_ == Place::kVocab ? vocab_id(v) : value(v); }
  bool number_unsigned(number_unsigned_t v) override {
    if (place_ != Place::kVocab) return value(v);
    if (v > static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max()))
      return wrong(fmt::format("token '{}' has the id {}", key_, v));
    return vocab_id(static_cast<int64_t>(v));
  }
  bool number_float(number_float_t v, const string_t& /*text*/) override { return value(v); }
  bool binary(binary_t& /*v*/) override { return wrong("binary data"); }

  bool string(string_t& v) override {
    if (place_ == Place::kMerges) {
      auto merge = parse_merge(v);
      if (!merge) return wrong(fmt::format("merge {}: {}", result.merges.size(), merge.error().message));
      result.merges.push_back(*std::move(merge));
      return true;
    }
    if (place_ == Place::kMergePair) {
      pair_.push_back(std::move(v));
      return pair_.size() <= 2 || wrong_pair();
    }
    return value(std::move(v));
  }

  bool start_object(size_t /*count*/) override {
    if (place_ == Place::kDom && opens("vocab")) {
      if (result.has_vocab) return wrong("the vocabulary stands there twice");
      result.has_vocab = true;
      place_ = Place::kVocab;
      return true;
    }
    return open(Dom::object());
  }

  bool key(string_t& v) override {
    key_ = std::move(v);
    if (place_ == Place::kDom && stack_.back()->contains(key_)) return wrong(fmt::format("key '{}' stands there twice", key_));
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kVocab) {
      place_ = Place::kDom;
    } else {
      stack_.pop_back();
    }
    return true;
  }

  bool start_array(size_t /*count*/) override {
    if (place_ == Place::kMerges) {
      place_ = Place::kMergePair;
      pair_.clear();
      return true;
    }
    if (place_ == Place::kDom && opens("merges")) {
      if (result.has_merges) return wrong("the merges stand there twice");
      result.has_merges = true;
      place_ = Place::kMerges;
      return true;
    }
    return open(Dom::array());
  }

  bool end_array() override {
    if (place_ == Place::kMergePair) {
      if (pair_.size() != 2) return wrong_pair();
      result.merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
      place_ = Place::kMerges;
    } else if (place_ == Place::kMerges) {
      place_ = Place::kDom;
    } else {
      stack_.pop_back();
    }
    return true;
  }

  bool parse_error(size_t /*position*/, const std::string& /*token*/, const nlohmann::detail::exception& e) override {
    std::string_view what = e.what();
    if (const size_t bracket = what.find("] "); bracket != what.npos) what.remove_prefix(bracket + 2);
    error = fmt::format("{}: not JSON: {}", source_, what);
    return false;
  }

 private:
  enum class Place { kDom, kVocab, kMerges, kMergePair };

  bool wrong(const std::string& what) {
    error = fmt::format("{}: {}", source_, what);
    return false;
  }

  bool wrong_pair() { return wrong(fmt::format("merge {}: expected two texts", result.merges.size())); }

  // Whether the value that begins is /model/<name>, or the root of a vocab.json.
  bool opens(std::string_view name) const {
    if (root_is_vocab_) return stack_.empty() && name == "vocab";
    return stack_.size() == 2 && in_model_ && key_ == name;
  }

  bool vocab_id(int64_t id) {
    result.vocab.emplace_back(std::move(key_), id);
    return true;
  }

  // Where a value belongs: the root, or the innermost open object or array.
  Dom& add(Dom&& v) {
    if (stack_.empty()) return result.rest = std::move(v);
    if (stack_.back()->is_array()) return stack_.back()->emplace_back(std::move(v));
    return (*stack_.back())[key_] = std::move(v);
  }

  bool value(Dom&& v) {
    if (place_ == Place::kVocab) return wrong(fmt::format("token '{}': expected an integer id, found {}", key_, v.type_name()));
    if (place_ != Place::kDom) return wrong(fmt::format("merge {}: expected text, found {}", result.merges.size(), v.type_name()));
    add(std::move(v));
    return true;
  }

  bool open(Dom&& v) {
    if (place_ != Place::kDom) return value(std::move(v));
    if (stack_.size() == kMaxDepth) return wrong(fmt::format("nested deeper than {} levels", kMaxDepth));
    if (stack_.size() == 1) in_model_ = v.is_object() && stack_[0]->is_object() && key_ == "model";
    stack_.push_back(&add(std::move(v)));
    return true;
  }

  std::string_view source_;
  bool root_is_vocab_;
  Place place_ = Place::kDom;
  bool in_model_ = false;    // the second open object is /model
  std::vector<Dom*> stack_;  // open objects and arrays; only the innermost grows, so the pointers stay good
  std::string key_;          // the last one read
  std::vector<std::string> pair_;
};

Result<VocabJson> parse(std::string_view text, std::string_view source, bool root_is_vocab) {
  Reader reader(source, root_is_vocab);
  if (!Dom::sax_parse(text, &reader)) return fail(ErrorKind::kInvalid, "{}", reader.error);
  return std::move(reader.result);
}

}  // namespace

Result<VocabJson> parse_tokenizer_json_text(std::string_view text, std::string_view source) { return parse(text, source, false); }

Result<VocabJson> parse_vocab_json_text(std::string_view text, std::string_view source) {
  TEAPOT_TRY(VocabJson json, parse(text, source, true));
  if (!json.has_vocab) return fail(ErrorKind::kInvalid, "{}: expected an object of tokens, found {}", source, json.rest.type_name());
  return json;
}

Result<std::pair<std::string, std::string>> parse_merge(std::string_view merge) {
  const size_t space = merge.find(' ');
  if (space == merge.npos || space == 0 || space + 1 == merge.size() || merge.find(' ', space + 1) != merge.npos) {
    return fail(ErrorKind::kInvalid, "expected two texts with a space between them, found '{}'", merge);
  }
  return std::pair(std::string(merge.substr(0, space)), std::string(merge.substr(space + 1)));
}

}  // namespace teapot::text
