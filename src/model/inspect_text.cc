#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/ranges.h>

#include "model/inspect.h"
#include "model/placement.h"

namespace teapot::model {
namespace {

std::string size_text(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", value / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.2f} MB", value / 1e6);
  if (bytes >= 1'000) return fmt::format("{:.1f} kB", value / 1e3);
  return fmt::format("{} B", bytes);
}

std::string count_text(uint64_t count) {
  const auto value = static_cast<double>(count);
  return count >= 1'000'000'000 ? fmt::format("{:.2f} B", value / 1e9) : fmt::format("{:.2f} M", value / 1e6);
}

// Numbers between dots become {}: "blk.3.attn_q.weight" and its fellows are one pattern.
std::string pattern_of(std::string_view name) {
  std::string pattern;
  size_t start = 0;
  while (start <= name.size()) {
    const size_t dot = std::min(name.find('.', start), name.size());
    const std::string_view part = name.substr(start, dot - start);
    const bool number = !part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
    pattern += number ? std::string_view("{}") : part;
    if (dot < name.size()) pattern += '.';
    start = dot + 1;
  }
  return pattern;
}

class Writer {
 public:
  explicit Writer(const Json& facts) : facts_(facts) {}

  std::string write() {
    head();
    layers();
    sizes();
    if (facts_.contains("tensors")) {
      model();
      tensors();
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format("{:<12}{}\n", label, fmt::format(format, std::forward<Args>(args)...));
  }

  uint64_t number(const char* key) const { return facts_.at(key).get<uint64_t>(); }
  std::string string(const char* key) const { return facts_.at(key).get<std::string>(); }
  bool has(const char* key) const { return facts_.contains(key); }

  void head() {
    line("family", "{}", string("family"));
    if (has("path")) line("path", "{} ({}, {} file{})", string("path"), string("format"), number("files"), number("files") == 1 ? "" : "s");
    line("parameters", "{} in all, {} active, {} read per token", count_text(number("params_total")), count_text(number("params_active")),
         count_text(number("params_read_per_token")));
  }

  void layers() {
    const uint64_t gdn = has("linear_attention_layers") ? number("linear_attention_layers") : 0;
    line("layers", "{}: {} attention, {} GDN; hidden {}", number("layers"), number("full_attention_layers"), gdn, number("hidden"));
    line("attention", "{} heads, {} KV heads of {}; {} rotated, theta {:g}", number("heads"), number("kv_heads"), number("head_dim"),
         number("rotary_dim"), facts_.at("rope_theta").get<double>());
    if (gdn > 0) {
      line("GDN", "{} key heads of {}, {} value heads of {}, convolution over {}", number("linear_key_heads"),
           number("linear_key_head_dim"), number("linear_value_heads"), number("linear_value_head_dim"), number("conv_kernel"));
    }
    if (has("experts")) {
      line("experts", "{} of {}, {} wide; shared expert {}; in {} layers", number("top_k"), number("experts"), number("moe_intermediate"),
           number("shared_intermediate"), number("moe_layers"));
    }
    if (has("intermediate")) line("FFN", "{} wide", number("intermediate"));
    line("vocabulary", "{} rows, head {}", number("vocab"), facts_.at("tie").get<bool>() ? "tied" : "not tied");
    line("context", "{} tokens", number("context_length"));
  }

  void sizes() {
    line("per token", "{} read in bf16, {} of KV in 16 bits", size_text(number("bytes_read_per_token_bf16")),
         size_text(number("kv_bytes_per_token_bf16")));
    if (has("state_bytes_per_sequence_f32")) line("state", "{} per sequence", size_text(number("state_bytes_per_sequence_f32")));
  }

  void model() {
    line("read", "{} per decoded token, in the file's types", size_text(number("bytes_read_per_token")));
    std::vector<std::string> parts;
    for (const auto& [part, bytes] : facts_.at("bytes_by_part").items()) {
      parts.push_back(fmt::format("{} {}", part, size_text(bytes.get<uint64_t>())));
    }
    line("bytes", "{}", fmt::join(parts, ", "));
    const Json& mtp = facts_.at("mtp");
    if (mtp.at("present").get<bool>()) {
      line("MTP", "{} layer{}", mtp.at("layers").get<uint64_t>(), mtp.at("layers") == 1 ? "" : "s");
      const auto bytes = [](const Json& count) { return size_text(count.get<uint64_t>()); };
      line("speculation",
           "per sequence {} of hidden states and {} (drafts up to 4 tokens) or {} (up to 8) of log and windows, of which a "
           "row that is verified writes {} and, once it is accepted, has them read again; per token {} of KV",
           bytes(mtp.at("hidden_bytes_per_sequence")), bytes(mtp.at("log_bytes_per_sequence").at("4")),
           bytes(mtp.at("log_bytes_per_sequence").at("8")), bytes(mtp.at("log_bytes_per_row")), bytes(mtp.at("kv_bytes_per_token_f16")));
    } else {
      line("MTP", "none");
    }
    line("defaults", "{}", dump_json(facts_.at("generation")));
    for (const auto& note : facts_.at("notes")) line("note", "{}", note.get<std::string>());
  }

  void tensors() {
    for (const auto& [type, what] : facts_.at("types").items()) {
      line(type, "{} tensor{}, {}", what.at("tensors").get<uint64_t>(), what.at("tensors") == 1 ? "" : "s",
           size_text(what.at("bytes").get<uint64_t>()));
    }
    // Of one pattern, by type and shape.
    std::map<std::string, std::pair<uint64_t, uint64_t>> groups;
    for (const auto& tensor : facts_.at("tensors")) {
      auto& [count, bytes] =
          groups[fmt::format("{}  {} {}", pattern_of(tensor.at("name").get<std::string>()), tensor.at("type").get<std::string>(),
                             shape_text(tensor.at("shape").get<std::vector<uint64_t>>()))];
      ++count;
      bytes += tensor.at("bytes").get<uint64_t>();
    }
    text_ += "tensors\n";
    for (const auto& [group, sum] : groups) text_ += fmt::format("{:>8} x  {}  {}\n", sum.first, group, size_text(sum.second));
  }

  const Json& facts_;
  std::string text_;
};

}  // namespace

std::string inspect_text(const Json& facts) { return Writer(facts).write(); }

}  // namespace teapot::model
