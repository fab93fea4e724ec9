#include "workbench/trace/data_types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "workbench/trace/decimal.h"

namespace teapot::workbench::trace {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 50;  // nothing in a device's memory is larger

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  while (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

// "256,2048,1024"
std::optional<std::vector<int64_t>> dimensions(std::string_view shape) {
  if (shape.empty()) return std::nullopt;
  std::vector<int64_t> result;
  for (const std::string_view part : split(shape, ',')) {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (code != std::errc{} || end != part.data() + part.size() || value < 0 || value > kMaxBytes) return std::nullopt;
    result.push_back(value);
  }
  return result;
}

std::optional<int64_t> bytes(const std::vector<int64_t>& shape, std::string_view type) {
  const std::optional<int> bits = bits_of(type);
  if (!bits) return std::nullopt;
  int64_t total = *bits;
  for (const int64_t dimension : shape) {
    if (__builtin_mul_overflow(total, dimension, &total) || total > kMaxBytes * 8) return std::nullopt;
  }
  return total / 8;
}

}  // namespace

std::optional<int> bits_of(std::string_view data_type) {
  std::string name(data_type);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("DT_")) name.erase(0, 3);
  static constexpr auto kBits = std::to_array<std::pair<std::string_view, int>>({
      {"BF16", 16},       {"BFP16", 16},      {"BFLOAT16", 16},   {"FLOAT16", 16},   {"FP16", 16},         {"HALF", 16},
      {"FLOAT", 32},      {"FLOAT32", 32},    {"FP32", 32},       {"DOUBLE", 64},    {"FP64", 64},         {"INT4", 4},
      {"INT8", 8},        {"UINT8", 8},       {"INT16", 16},      {"UINT16", 16},    {"INT32", 32},        {"UINT32", 32},
      {"INT64", 64},      {"UINT64", 64},     {"BOOL", 8},        {"HIFLOAT8", 8},   {"FLOAT8_E4M3FN", 8}, {"FLOAT8_E5M2", 8},
      {"FLOAT8_E8M0", 8}, {"FLOAT4_E2M1", 4}, {"FLOAT4_E1M2", 4}, {"COMPLEX64", 64},
  });
  const auto at = std::ranges::find(kBits, std::string_view(name), &std::pair<std::string_view, int>::first);
  if (at == kBits.end()) return std::nullopt;
  return at->second;
}

int64_t elements_bytes(int64_t count, std::string_view data_type) {
  const std::optional<int> bits = bits_of(data_type);
  if (!bits || count < 0 || count > kMaxBytes) return -1;
  return count * *bits / 8;
}

std::optional<int64_t> moved_bytes(std::string_view input_shapes, std::string_view input_types, std::string_view output_shapes,
                                   std::string_view output_types, bool grouped) {
  const auto shapes = split(unquoted(input_shapes), ';'), types = split(unquoted(input_types), ';');
  const auto outputs = split(unquoted(output_shapes), ';'), output_kinds = split(unquoted(output_types), ';');
  if (shapes.size() != types.size() || outputs.size() != output_kinds.size()) return std::nullopt;
  int64_t total = 0, rows = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    auto shape = dimensions(shapes[i]);
    if (!shape) return std::nullopt;
    if (i == 0) rows = shape->front();
    if (grouped && i > 0 && shape->size() >= 3) shape->front() = std::min(shape->front(), rows);
    const std::optional<int64_t> size = bytes(*shape, types[i]);
    if (!size || total > kMaxBytes) return std::nullopt;
    total += *size;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto shape = dimensions(outputs[i]);
    const std::optional<int64_t> size = shape ? bytes(*shape, output_kinds[i]) : std::nullopt;
    if (!size || total > kMaxBytes) return std::nullopt;
    total += *size;
  }
  return total;
}

}  // namespace teapot::workbench::trace
